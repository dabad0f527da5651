#ifndef BN_API_FAST_BATCH_NORM_BACKWARD_H_
#define BN_API_FAST_BATCH_NORM_BACKWARD_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Batch normalization, backward: bnapiBatchNormBackward with looser rules on types, for programs that call it
 * by this name. It is neither faster nor slower.
 * Per channel c, over its n elements (Ioffe and Szegedy 2015, arXiv:1502.03167, section 3):
 *     training:   mean = saveMean[c]       invstd = saveInvstd[c]
 *     inference:  mean = runningMean[c]    invstd = 1 / sqrt(runningVar[c] + eps)
 *     both:       gradBias[c] = sum(dy)    gradWeight[c] = sum(dy * (x - mean)) * invstd
 *     training:   dx = (dy - gradBias[c] / n - (x - mean) * invstd * gradWeight[c] / n) * invstd * weight[c]
 *     inference:  dx = dy * invstd * weight[c]
 *
 * parameter    dir  shape        dtype             meaning; what NULL means
 * gradOut      in   [N, C, ...]  f16 bf16 f32 f64  dy; rank 2 to 8, any strides; the channel axis is always
 *                                                  axis 1
 * input        in   [N, C, ...]  that of gradOut   x; shape and label of gradOut
 * weight       in   [C]          f16 bf16 f32 f64  NULL: 1
 * runningMean  in   [C]          f16 bf16 f32 f64  used in inference only, checked in both modes; NULL: 0
 * runningVar   in   [C]          f16 bf16 f32 f64  used in inference only; NULL: 1
 * saveMean     in   [C]          f16 bf16 f32 f64  used in training only, any shape in inference; NULL: 0
 * saveInvstd   in   [C]          f16 bf16 f32 f64  an inverse standard deviation, eps included; NULL: 1
 * training     in   bool         -                 which statistics the forward pass used
 * eps          in   double       -                 used in inference only
 * outputMask   in   bool[3]      -                 which of gradInput, gradWeight, gradBias are asked for
 * version      in   int          -                 any value; no effect
 * gradInput    out  [N, C, ...]  that of gradOut   dx; shape and label of gradOut; may be the view of gradOut
 *                                                  or input
 * gradWeight   out  [C]          f16 bf16 f32 f64  any float type
 * gradBias     out  [C]          f16 bf16 f32 f64  any float type
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Masks        an output that is not asked for is ignored entirely: it may be NULL or of any type, label and
 *              shape, and is never written. Nothing asked for: success.
 * Labels       ND, NC, NCL, NCHW, NCDHW at any rank.
 * Empty, NaN   no elements: gradWeight and gradBias, where asked for, are 0; no other rule is checked. NaN
 *              and Inf stay in their own channel.
 * Accuracy     as bnapiBatchNormBackwardGetWorkspaceSize.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor, gradOut, input,
 *         outputMask or requested output, or a mask whose length is not 3; BNAPI_ERR_PARAM_INVALID for a
 *         dtype, label, rank or shape outside the table, except that a wrong shape of gradWeight or gradBias
 *         is BNAPI_ERR_INNER_NULLPTR, as it is in aclnn.
 */
BNAPI_EXPORT bnapiStatus bnapiFastBatchNormBackwardGetWorkspaceSize(
    const bnapiTensor* gradOut, const bnapiTensor* input, const bnapiTensor* weight,
    const bnapiTensor* runningMean, const bnapiTensor* runningVar, const bnapiTensor* saveMean,
    const bnapiTensor* saveInvstd, bool training, double eps, const bnapiBoolArray* outputMask, int version,
    bnapiTensor* gradInput, bnapiTensor* gradWeight, bnapiTensor* gradBias, uint64_t* workspaceSize,
    bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiFastBatchNormBackwardGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiFastBatchNormBackward(void* workspace, uint64_t workspaceSize,
                                                    bnapiOpExecutor* executor, bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_FAST_BATCH_NORM_BACKWARD_H_ */
