/* Written by csrc/ascend/generate.py; do not edit.
 *
 * aclnnBatchNormGatherStatsWithCounts
 * Merges per-rank statistics into global ones and updates the running statistics.
 * Formula, shapes, types and status codes are those of bnapiBatchNormGatherStatsWithCounts, in
 * bn_api/batch_norm_gather_stats_with_counts.h, less float64, which this name refuses.
 */
/* clang-format off */
#ifndef ACLNN_BATCH_NORM_GATHER_STATS_WITH_COUNTS_H_
#define ACLNN_BATCH_NORM_GATHER_STATS_WITH_COUNTS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Phase one: checks and plans. Touches no data; on failure both out parameters are left alone. */
ACLNN_API aclnnStatus aclnnBatchNormGatherStatsWithCountsGetWorkspaceSize(
    const aclTensor* input, const aclTensor* mean, const aclTensor* invstd, aclTensor* runningMean,
    aclTensor* runningVar, double momentum, double eps, const aclTensor* counts, aclTensor* meanAll,
    aclTensor* invstdAll, uint64_t* workspaceSize, aclOpExecutor** executor);

/* Phase two: enqueues the planned work on the stream, and frees the executor unless it is repeatable. */
ACLNN_API aclnnStatus aclnnBatchNormGatherStatsWithCounts(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif /* ACLNN_BATCH_NORM_GATHER_STATS_WITH_COUNTS_H_ */
