/* Written by csrc/ascend/generate.py; do not edit.
 *
 * aclnnBatchNormStats
 * Mean and inverse standard deviation per channel.
 * Formula, shapes, types and status codes are those of bnapiBatchNormStats, in
 * bn_api/batch_norm_stats.h, less float64, which this name refuses.
 */
/* clang-format off */
#ifndef ACLNN_BATCH_NORM_STATS_H_
#define ACLNN_BATCH_NORM_STATS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Phase one: checks and plans. Touches no data; on failure both out parameters are left alone. */
ACLNN_API aclnnStatus aclnnBatchNormStatsGetWorkspaceSize(
    const aclTensor* input, double eps, aclTensor* mean, aclTensor* invstd, uint64_t* workspaceSize,
    aclOpExecutor** executor);

/* Phase two: enqueues the planned work on the stream, and frees the executor unless it is repeatable. */
ACLNN_API aclnnStatus aclnnBatchNormStats(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif /* ACLNN_BATCH_NORM_STATS_H_ */
