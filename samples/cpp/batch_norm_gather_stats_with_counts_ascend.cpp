// aclnnBatchNormGatherStatsWithCounts: the statistics of two ranks, with 4 and 12 elements, become one.

#include "aclnnop/aclnn_batch_norm_gather_stats_with_counts.h"
#include "ascend.h"

int main() {
  Session session;
  const Tensor<float> input({1, 2}, {0, 0});  // only its channels count
  const Tensor<float> mean({2, 2}, {1, -2, 3, 0.5});
  const Tensor<float> invstd({2, 2}, {0.5, 2, 1, 0.25});
  const Tensor<float> counts({2}, {4, 12});
  const Tensor<float> runningMean({2}, {0, 1});
  const Tensor<float> runningVar({2}, {1, 3});
  const Tensor<float> meanAll({2}, {0, 0});
  const Tensor<float> invstdAll({2}, {0, 0});

  const double momentum = 0.1, eps = 1e-3;
  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnBatchNormGatherStatsWithCountsGetWorkspaceSize(input, mean, invstd, runningMean, runningVar,
                                                            momentum, eps, counts, meanAll, invstdAll,
                                                            &workspaceSize, &executor));
  run(aclnnBatchNormGatherStatsWithCounts, workspaceSize, executor, session.stream);

  meanAll.print("meanAll");
  invstdAll.print("invstdAll");
  runningMean.print("runningMean");
  runningVar.print("runningVar");
  return 0;
}
