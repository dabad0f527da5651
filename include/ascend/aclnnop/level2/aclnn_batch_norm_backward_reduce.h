/* Written by csrc/ascend/generate.py; do not edit.
 *
 * aclnnBatchNormReduceBackward
 * The per-channel sums that the backward pass needs, each on request.
 * Formula, shapes, types and status codes are those of bnapiBatchNormReduceBackward, in
 * bn_api/batch_norm_reduce_backward.h, less float64, which this name refuses.
 */
/* clang-format off */
#ifndef ACLNN_BATCH_NORM_BACKWARD_REDUCE_H_
#define ACLNN_BATCH_NORM_BACKWARD_REDUCE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Phase one: checks and plans. Touches no data; on failure both out parameters are left alone. */
ACLNN_API aclnnStatus aclnnBatchNormReduceBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* mean, const aclTensor* invstd,
    const aclTensor* weight, bool inputG, bool weightG, bool biasG, aclTensor* sumDy, aclTensor* sumDyXmu,
    aclTensor* gradWeight, aclTensor* gradBias, uint64_t* workspaceSize, aclOpExecutor** executor);

/* Phase two: enqueues the planned work on the stream, and frees the executor unless it is repeatable. */
ACLNN_API aclnnStatus aclnnBatchNormReduceBackward(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif /* ACLNN_BATCH_NORM_BACKWARD_REDUCE_H_ */
