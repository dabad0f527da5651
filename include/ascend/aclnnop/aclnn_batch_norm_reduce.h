/* Written by csrc/ascend/generate.py; do not edit.
 *
 * aclnnBatchNormReduce
 * Sum and sum of squares per channel.
 * Formula, shapes, types and status codes are those of bnapiBatchNormReduce, in
 * bn_api/batch_norm_reduce.h, less float64, which this name refuses.
 */
/* clang-format off */
#ifndef ACLNN_BATCH_NORM_REDUCE_H_
#define ACLNN_BATCH_NORM_REDUCE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Phase one: checks and plans. Touches no data; on failure both out parameters are left alone. */
ACLNN_API aclnnStatus aclnnBatchNormReduceGetWorkspaceSize(
    const aclTensor* x, aclTensor* sum, aclTensor* squareSum, uint64_t* workspaceSize,
    aclOpExecutor** executor);

/* Phase two: enqueues the planned work on the stream, and frees the executor unless it is repeatable. */
ACLNN_API aclnnStatus aclnnBatchNormReduce(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif /* ACLNN_BATCH_NORM_REDUCE_H_ */
