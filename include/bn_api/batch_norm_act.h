#ifndef BN_API_BATCH_NORM_ACT_H_
#define BN_API_BATCH_NORM_ACT_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Batch normalization, then the sum with a residual, then an activation, in one pass. (No aclnn twin.)
 * Per channel c, with the statistics of bnapiBatchNorm in training or inference:
 *     y = activation((x - mean[c]) * invstd[c] * weight[c] + bias[c] + residual)
 *     activation: identity, or relu(t) = max(t, 0), which keeps NaN
 *
 * parameter    dir     shape        dtype             meaning; what NULL means
 * input        in      [N, C, ...]  f16 bf16 f32 f64  x; rank 2 to 8, any strides
 * weight       in      [C]          f16 bf16 f32 f64  NULL: 1
 * bias         in      [C]          f16 bf16 f32 f64  NULL: 0
 * runningMean  in/out  [C]          f16 bf16 f32 f64  training: updated in place, NULL: not; inference: NULL:
 *                                                     0
 * runningVar   in/out  [C]          f16 bf16 f32 f64  training: updated in place, NULL: not; inference: NULL:
 *                                                     1
 * residual     in      [N, C, ...]  that of input     shape and label of input; NULL: 0
 * training     in      bool         -                 normalize with the batch's own statistics
 * momentum     in      double       -                 weight of the batch in the running values; not
 *                                                     validated
 * eps          in      double       -                 added to the variance; not validated
 * activation   in      enum         -                 BNAPI_ACTIVATION_IDENTITY or BNAPI_ACTIVATION_RELU
 * output       out     [N, C, ...]  that of input     y; shape and label of input; may be the view of input
 *                                                     or residual
 * saveMean     out     [C]          f16 bf16 f32 f64  for the backward pass. Inference: neither checked nor
 *                                                     written
 * saveInvstd   out     [C]          f16 bf16 f32 f64  as saveMean; an inverse standard deviation
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Labels, aliasing, empty tensors
 *              as bnapiBatchNormGetWorkspaceSize.
 * Accuracy     as bnapiBatchNormGetWorkspaceSize, plus one rounding for the residual.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor, input or output, or in
 *         training saveMean or saveInvstd; BNAPI_ERR_PARAM_INVALID for an unknown activation, or a dtype,
 *         label, rank or shape outside the table.
 */
BNAPI_EXPORT bnapiStatus bnapiBatchNormActGetWorkspaceSize(
    const bnapiTensor* input, const bnapiTensor* weight, const bnapiTensor* bias, bnapiTensor* runningMean,
    bnapiTensor* runningVar, const bnapiTensor* residual, bool training, double momentum, double eps,
    bnapiActivation activation, bnapiTensor* output, bnapiTensor* saveMean, bnapiTensor* saveInvstd,
    uint64_t* workspaceSize, bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiBatchNormActGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiBatchNormAct(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                           bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_BATCH_NORM_ACT_H_ */
