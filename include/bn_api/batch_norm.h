#ifndef BN_API_BATCH_NORM_H_
#define BN_API_BATCH_NORM_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Batch normalization, forward, in training or inference.
 * Per channel c, over its n elements (Ioffe and Szegedy 2015, arXiv:1502.03167, algorithms 1 and 2):
 *     training:   saveMean[c] = mean(x)    saveInvstd[c] = 1 / sqrt(var + eps)    var = mean((x - mean(x))^2)
 *                 y = (x - saveMean[c]) * saveInvstd[c] * weight[c] + bias[c]
 *                 runningMean[c] = (1 - momentum) * runningMean[c] + momentum * mean(x)
 *                 runningVar[c] = (1 - momentum) * runningVar[c] + momentum * var * n / (n - 1)
 *     inference:  y = (x - runningMean[c]) / sqrt(runningVar[c] + eps) * weight[c] + bias[c]
 *
 * parameter    dir     shape        dtype             meaning; what NULL means
 * input        in      [N, C, ...]  f16 bf16 f32 f64  x; rank 2 to 8, any strides
 * weight       in      [C]          f16 bf16 f32 f64  NULL: 1
 * bias         in      [C]          f16 bf16 f32 f64  NULL: 0
 * runningMean  in/out  [C]          f16 bf16 f32 f64  training: updated in place, NULL: not; inference: NULL:
 *                                                     0
 * runningVar   in/out  [C]          f16 bf16 f32 f64  training: updated in place, NULL: not; inference: NULL:
 *                                                     1
 * training     in      bool         -                 normalize with the batch's own statistics
 * momentum     in      double       -                 weight of the batch in the running values; not
 *                                                     validated
 * eps          in      double       -                 added to the variance; not validated
 * output       out     [N, C, ...]  that of input     y; shape and label of input; may be the same view as
 *                                                     input
 * saveMean     out     [C]          f16 bf16 f32 f64  for the backward pass. Inference: neither checked nor
 *                                                     written
 * saveInvstd   out     [C]          f16 bf16 f32 f64  as saveMean; an inverse standard deviation
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Labels       the channels are axis 1; the last axis under NHWC (rank 4) and NDHWC (rank 5). Ranks 2, 3, 6,
 *              7, 8: ND, NC, NCL, NCHW, NCDHW; rank 4: ND, NCHW, NHWC; rank 5: NCDHW, NDHWC.
 * Aliasing     runningMean and runningVar may share memory with weight and bias: y uses the values from
 *              before.
 * Empty, NaN   no elements but C > 0, in either mode: saveMean is 0 and saveInvstd NaN where given, running
 *              values stay; no other rule is checked. n = 1: the unbiased variance, and with it runningVar,
 *              is NaN. NaN and Inf stay in their own channel.
 * Accuracy     statistics within half an ulp of the output plus a few float64 roundings of their terms; y
 *              within half an ulp plus 3 roundings of |(x - mean) * invstd * weight|, in float32 (float64 for
 *              float64 data); the same bits on every run and for any number of threads.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor, input or output, or in
 *         training saveMean or saveInvstd; BNAPI_ERR_PARAM_INVALID for a dtype, label, rank or shape outside
 *         the table.
 */
BNAPI_EXPORT bnapiStatus bnapiBatchNormGetWorkspaceSize(const bnapiTensor* input, const bnapiTensor* weight,
                                                        const bnapiTensor* bias, bnapiTensor* runningMean,
                                                        bnapiTensor* runningVar, bool training,
                                                        double momentum, double eps, bnapiTensor* output,
                                                        bnapiTensor* saveMean, bnapiTensor* saveInvstd,
                                                        uint64_t* workspaceSize, bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiBatchNormGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiBatchNorm(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                        bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_BATCH_NORM_H_ */
