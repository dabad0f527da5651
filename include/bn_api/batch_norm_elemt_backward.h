#ifndef BN_API_BATCH_NORM_ELEMT_BACKWARD_H_
#define BN_API_BATCH_NORM_ELEMT_BACKWARD_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The gradient of the input from sums over all ranks: the last step of a synchronized batch norm, backward.
 * Per element of channel c, with n = sum(counter) (Ioffe and Szegedy 2015, arXiv:1502.03167, section 3):
 *     dx = (dy - sumDy[c] / n - (x - mean[c]) * invstd[c]^2 * sumDyXmu[c] / n) * invstd[c] * weight[c]
 *
 * parameter  dir  shape        dtype             meaning; what NULL means
 * gradOut    in   [N, C, ...]  f16 bf16 f32 f64  dy; shape of input
 * input      in   [N, C, ...]  f16 bf16 f32 f64  x; rank 2 to 8, any strides; the channel axis is always axis
 *                                                1; C > 0
 * mean       in   [C]          f16 bf16 f32 f64
 * invstd     in   [C]          f16 bf16 f32 f64  1 / sqrt(var + eps)
 * weight     in   [C]          f16 bf16 f32 f64  NULL: 1
 * sumDy      in   [C]          f16 bf16 f32 f64  sums (not averages) of bnapiBatchNormReduceBackward over all
 *                                                ranks
 * sumDyXmu   in   [C]          f16 bf16 f32 f64
 * counter    in   any          f16 f32 f64 i32   elements per channel of each rank, in any shape of rank 0 to
 *                                                8
 * gradInput  out  [N, C, ...]  f16 bf16 f32 f64  dx; shape of input; may be the view of gradOut or input
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Empty, NaN   no elements but C > 0: success, nothing written. A counter that is empty or sums to 0 divides
 *              by 0.
 * Accuracy     half an ulp plus a few roundings of the terms, in float32 (float64 for float64 data); the same
 *              bits on every run and for any number of threads.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor or tensor other than
 *         weight; BNAPI_ERR_PARAM_INVALID for a dtype, rank or shape outside the table, a private label of
 *         gradOut, input or gradInput, or C = 0.
 */
BNAPI_EXPORT bnapiStatus bnapiBatchNormElemtBackwardGetWorkspaceSize(
    const bnapiTensor* gradOut, const bnapiTensor* input, const bnapiTensor* mean, const bnapiTensor* invstd,
    const bnapiTensor* weight, const bnapiTensor* sumDy, const bnapiTensor* sumDyXmu, bnapiTensor* counter,
    bnapiTensor* gradInput, uint64_t* workspaceSize, bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiBatchNormElemtBackwardGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiBatchNormElemtBackward(void* workspace, uint64_t workspaceSize,
                                                     bnapiOpExecutor* executor, bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_BATCH_NORM_ELEMT_BACKWARD_H_ */
