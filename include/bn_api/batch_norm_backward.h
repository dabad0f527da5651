#ifndef BN_API_BATCH_NORM_BACKWARD_H_
#define BN_API_BATCH_NORM_BACKWARD_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Batch normalization, backward, of training or inference.
 * Per channel c, over its n elements (Ioffe and Szegedy 2015, arXiv:1502.03167, section 3):
 *     training:   mean = saveMean[c]       invstd = saveInvstd[c]
 *     inference:  mean = runningMean[c]    invstd = 1 / sqrt(runningVar[c] + eps)
 *     both:       gradBias[c] = sum(dy)    gradWeight[c] = sum(dy * (x - mean)) * invstd
 *     training:   dx = (dy - gradBias[c] / n - (x - mean) * invstd * gradWeight[c] / n) * invstd * weight[c]
 *     inference:  dx = dy * invstd * weight[c]
 *
 * parameter    dir  shape        dtype               meaning; what NULL means
 * gradOut      in   [N, C, ...]  f16 bf16 f32 f64    dy; rank 2 to 8, any strides
 * input        in   [N, C, ...]  that of gradOut     x; shape and label of gradOut
 * weight       in   [C]          gradOut's f32 f64   NULL: 1
 * runningMean  in   [C]          gradOut's f32 f64   used in inference only, checked in both modes; NULL: 0
 * runningVar   in   [C]          runningMean's       used in inference only; NULL: 1
 * saveMean     in   [C]          gradOut's f32 f64   used in training only, length 0 allowed in inference;
 *                                                    NULL: 0
 * saveInvstd   in   [C]          saveMean's          an inverse standard deviation, eps included; NULL: 1
 * training     in   bool         -                   which statistics the forward pass used
 * eps          in   double       -                   used in inference only
 * outputMask   in   bool[3]      -                   which of gradInput, gradWeight, gradBias are asked for
 * gradInput    out  [N, C, ...]  that of gradOut     dx; shape and label of gradOut; may be the view of
 *                                                    gradOut or input
 * gradWeight   out  [C]          weight's f32 f64    any float type if weight is NULL
 * gradBias     out  [C]          that of gradWeight  any float type if weight is NULL and gradWeight not
 *                                                    asked for
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Masks        an output that is not asked for is ignored entirely: it may be NULL or of any type, label and
 *              shape, and is never written. Nothing asked for: success.
 * Labels       as in bnapiBatchNormGetWorkspaceSize.
 * Empty, NaN   no elements: gradWeight and gradBias, where asked for, are 0; no other rule is checked. NaN
 *              and Inf stay in their own channel.
 * Accuracy     sums within half an ulp of the output plus a few float64 roundings of sum(|terms|), for any
 *              length and cancellation; dx within half an ulp plus a few roundings of its terms, in float32
 *              (float64 for float64 data); the same bits on every run and for any number of threads.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor, gradOut, input,
 *         outputMask or requested output, or a mask whose length is not 3; BNAPI_ERR_PARAM_INVALID for a
 *         dtype, label, rank or shape outside the table.
 */
BNAPI_EXPORT bnapiStatus bnapiBatchNormBackwardGetWorkspaceSize(
    const bnapiTensor* gradOut, const bnapiTensor* input, const bnapiTensor* weight,
    const bnapiTensor* runningMean, const bnapiTensor* runningVar, const bnapiTensor* saveMean,
    const bnapiTensor* saveInvstd, bool training, double eps, const bnapiBoolArray* outputMask,
    bnapiTensor* gradInput, bnapiTensor* gradWeight, bnapiTensor* gradBias, uint64_t* workspaceSize,
    bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiBatchNormBackwardGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiBatchNormBackward(void* workspace, uint64_t workspaceSize,
                                                bnapiOpExecutor* executor, bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_BATCH_NORM_BACKWARD_H_ */
