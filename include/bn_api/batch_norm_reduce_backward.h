#ifndef BN_API_BATCH_NORM_REDUCE_BACKWARD_H_
#define BN_API_BATCH_NORM_REDUCE_BACKWARD_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The per-channel sums that batch norm's backward pass needs, over every axis but axis 1.
 * Per channel c (Ioffe and Szegedy 2015, arXiv:1502.03167, section 3):
 *     sumDy[c] = sum(dy)                    sumDyXmu[c] = sum(dy * (x - mean[c]))
 *     gradWeight[c] = sumDyXmu[c] * invstd[c]    gradBias[c] = sum(dy)
 *
 * parameter   dir  shape        dtype             meaning; what NULL means
 * gradOut     in   [N, C, ...]  that of input     dy; rank 2 to 8, any strides
 * input       in   [N, C, ...]  f16 bf16 f32 f64  x; the channel axis is always axis 1; its label is
 *                                                 gradOut's
 * mean        in   [C]          f16 bf16 f32 f64
 * invstd      in   [C]          f16 bf16 f32 f64  1 / sqrt(var + eps)
 * weight      in   [C]          f16 bf16 f32 f64  accepted and checked, never enters a result; may be NULL
 * inputG      in   bool         -                 write sumDy and sumDyXmu
 * weightG     in   bool         -                 write gradWeight
 * biasG       in   bool         -                 write gradBias
 * sumDy       out  [C]          f16 bf16 f32 f64
 * sumDyXmu    out  [C]          f16 bf16 f32 f64
 * gradWeight  out  [C]          f16 bf16 f32 f64
 * gradBias    out  [C]          f16 bf16 f32 f64
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Masks        an output that is not asked for is ignored entirely: it may be NULL or of any type, label and
 *              shape, and is never written. Nothing asked for: success.
 * Empty, NaN   no elements but C > 0 (or an empty mean or invstd): the sums are 0. NaN and Inf stay in their
 *              own channel.
 * Accuracy     half an ulp of the output, plus a few float64 roundings of sum(|terms|), for any length and
 *              cancellation; the same bits on every run and for any number of threads.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor, required input or
 *         requested output; BNAPI_ERR_PARAM_INVALID for a dtype, label, rank or shape outside the table, or C
 *         = 0.
 */
BNAPI_EXPORT bnapiStatus bnapiBatchNormReduceBackwardGetWorkspaceSize(
    const bnapiTensor* gradOut, const bnapiTensor* input, const bnapiTensor* mean, const bnapiTensor* invstd,
    const bnapiTensor* weight, bool inputG, bool weightG, bool biasG, bnapiTensor* sumDy,
    bnapiTensor* sumDyXmu, bnapiTensor* gradWeight, bnapiTensor* gradBias, uint64_t* workspaceSize,
    bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiBatchNormReduceBackwardGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiBatchNormReduceBackward(void* workspace, uint64_t workspaceSize,
                                                      bnapiOpExecutor* executor, bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_BATCH_NORM_REDUCE_BACKWARD_H_ */
