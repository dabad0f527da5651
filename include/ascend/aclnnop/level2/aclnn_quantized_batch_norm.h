/* Written by csrc/ascend/generate.py; do not edit.
 *
 * aclnnQuantizedBatchNorm
 * Inference on quantized integers: dequantize, normalize, requantize.
 * Formula, shapes, types and status codes are those of bnapiQuantizedBatchNorm, in
 * bn_api/quantized_batch_norm.h, less float64, which this name refuses.
 */
/* clang-format off */
#ifndef ACLNN_QUANTIZED_BATCH_NORM_H_
#define ACLNN_QUANTIZED_BATCH_NORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Phase one: checks and plans. Touches no data; on failure both out parameters are left alone. */
ACLNN_API aclnnStatus aclnnQuantizedBatchNormGetWorkspaceSize(
    const aclTensor* input, const aclTensor* mean, const aclTensor* var, const aclScalar* inputScale,
    const aclScalar* inputZeroPoint, const aclScalar* outputScale, const aclScalar* outputZeroPoint,
    aclTensor* weight, aclTensor* bias, float epsilon, aclTensor* output, uint64_t* workspaceSize,
    aclOpExecutor** executor);

/* Phase two: enqueues the planned work on the stream, and frees the executor unless it is repeatable. */
ACLNN_API aclnnStatus aclnnQuantizedBatchNorm(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif /* ACLNN_QUANTIZED_BATCH_NORM_H_ */
