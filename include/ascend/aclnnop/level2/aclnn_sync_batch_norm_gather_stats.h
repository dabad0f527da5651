/* Written by csrc/ascend/generate.py; do not edit.
 *
 * aclnnSyncBatchNormGatherStats
 * Global statistics from per-rank sums and square sums; updates the running statistics.
 * Formula, shapes, types and status codes are those of bnapiSyncBatchNormGatherStats, in
 * bn_api/sync_batch_norm_gather_stats.h, less float64, which this name refuses.
 */
/* clang-format off */
#ifndef ACLNN_SYNC_BATCH_NORM_GATHER_STATS_H_
#define ACLNN_SYNC_BATCH_NORM_GATHER_STATS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Phase one: checks and plans. Touches no data; on failure both out parameters are left alone. */
ACLNN_API aclnnStatus aclnnSyncBatchNormGatherStatsGetWorkspaceSize(
    const aclTensor* totalSum, const aclTensor* totalSquareSum, const aclTensor* sampleCount, aclTensor* mean,
    aclTensor* variance, float momentum, float eps, aclTensor* batchMean, aclTensor* batchInvstd,
    uint64_t* workspaceSize, aclOpExecutor** executor);

/* Phase two: enqueues the planned work on the stream, and frees the executor unless it is repeatable. */
ACLNN_API aclnnStatus aclnnSyncBatchNormGatherStats(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif /* ACLNN_SYNC_BATCH_NORM_GATHER_STATS_H_ */
