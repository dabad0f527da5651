/* Written by csrc/ascend/generate.py; do not edit.
 *
 * aclnnBatchNorm
 * Batch normalization, training (updates the running statistics) or inference.
 * Formula, shapes, types and status codes are those of bnapiBatchNorm, in
 * bn_api/batch_norm.h, less float64, which this name refuses.
 */
/* clang-format off */
#ifndef ACLNN_BATCH_NORM_H_
#define ACLNN_BATCH_NORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Phase one: checks and plans. Touches no data; on failure both out parameters are left alone. */
ACLNN_API aclnnStatus aclnnBatchNormGetWorkspaceSize(
    const aclTensor* input, const aclTensor* weight, const aclTensor* bias, aclTensor* runningMean,
    aclTensor* runningVar, bool training, double momentum, double eps, aclTensor* output, aclTensor* saveMean,
    aclTensor* saveInvstd, uint64_t* workspaceSize, aclOpExecutor** executor);

/* Phase two: enqueues the planned work on the stream, and frees the executor unless it is repeatable. */
ACLNN_API aclnnStatus aclnnBatchNorm(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif /* ACLNN_BATCH_NORM_H_ */
