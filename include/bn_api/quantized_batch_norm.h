#ifndef BN_API_QUANTIZED_BATCH_NORM_H_
#define BN_API_QUANTIZED_BATCH_NORM_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Batch normalization of quantized data, in inference.
 * Per element of channel c (affine quantization: real value = (q - zero point) * scale):
 *     x = (input - inputZeroPoint) * inputScale
 *     y = (x - mean[c]) / sqrt(var[c] + epsilon) * weight[c] + bias[c]
 *     output = saturate(round(y / outputScale + outputZeroPoint)), ties away from zero
 *
 * parameter        dir  shape         dtype          meaning; what NULL means
 * input            in   [N, C, H, W]  i8 u8 i32      rank 4, any strides, not empty; label NCHW or ND
 * mean             in   [C]           f32 f64
 * var              in   [C]           f32 f64        a variance
 * inputScale       in   scalar        f32 f64
 * inputZeroPoint   in   scalar        i32
 * outputScale      in   scalar        f32 f64
 * outputZeroPoint  in   scalar        i32
 * weight           in   [C]           f32 f64        NULL: 1
 * bias             in   [C]           f32 f64        NULL: 0
 * epsilon          in   float         -              added to the variance; not validated
 * output           out  [N, C, H, W]  that of input  shape and label of input; may be the same view as input
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Empty, NaN   empty tensors are refused. Infinite results saturate, NaN gives 0.
 * Accuracy     everything in float64 with one rounding, so exact unless y / outputScale + outputZeroPoint is
 *              within a few float64 roundings of a tie; the same bits on every run and for any number of
 *              threads.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor, input, output, mean, var
 *         or scalar; BNAPI_ERR_PARAM_INVALID for a dtype, label, rank or shape outside the table.
 */
BNAPI_EXPORT bnapiStatus bnapiQuantizedBatchNormGetWorkspaceSize(
    const bnapiTensor* input, const bnapiTensor* mean, const bnapiTensor* var, const bnapiScalar* inputScale,
    const bnapiScalar* inputZeroPoint, const bnapiScalar* outputScale, const bnapiScalar* outputZeroPoint,
    bnapiTensor* weight, bnapiTensor* bias, float epsilon, bnapiTensor* output, uint64_t* workspaceSize,
    bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiQuantizedBatchNormGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiQuantizedBatchNorm(void* workspace, uint64_t workspaceSize,
                                                 bnapiOpExecutor* executor, bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_QUANTIZED_BATCH_NORM_H_ */
