// aclnnBatchNormStats far from zero: mean 30002, where a difference of squares would have no digit left.

#include "aclnnop/aclnn_batch_norm_stats.h"
#include "ascend.h"

int main() {
  Session session;
  const Tensor<float> input({4, 1}, {30000, 30001, 30002, 30005});
  const Tensor<float> mean({1}, {0});
  const Tensor<float> invstd({1}, {0});

  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnBatchNormStatsGetWorkspaceSize(input, 1e-5, mean, invstd, &workspaceSize, &executor));
  run(aclnnBatchNormStats, workspaceSize, executor, session.stream);

  mean.print("mean");
  invstd.print("invstd");
  return 0;
}
