// aclnnSyncBatchNormGatherStats: sums and square sums of two ranks become global statistics.

#include "aclnnop/aclnn_sync_batch_norm_gather_stats.h"
#include "ascend.h"

int main() {
  Session session;
  const Tensor<float> totalSum({2, 2}, {6, -2, 3, 8});
  const Tensor<float> totalSquareSum({2, 2}, {20, 4, 9, 30});
  const Tensor<int32_t> sampleCount({2}, {3, 2}, ACL_INT32);
  const Tensor<float> mean({2}, {1, 0});
  const Tensor<float> variance({2}, {2, 5});
  const Tensor<float> batchMean({2}, {0, 0});
  const Tensor<float> batchInvstd({2}, {0, 0});

  const float momentum = 0.1f, eps = 1e-5f;  // float here, unlike the other operators
  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnSyncBatchNormGatherStatsGetWorkspaceSize(totalSum, totalSquareSum, sampleCount, mean, variance,
                                                      momentum, eps, batchMean, batchInvstd, &workspaceSize,
                                                      &executor));
  run(aclnnSyncBatchNormGatherStats, workspaceSize, executor, session.stream);

  batchMean.print("batchMean");
  batchInvstd.print("batchInvstd");
  mean.print("mean");
  variance.print("variance");
  return 0;
}
