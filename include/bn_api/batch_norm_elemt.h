#ifndef BN_API_BATCH_NORM_ELEMT_H_
#define BN_API_BATCH_NORM_ELEMT_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Normalizes with statistics as given: the last step of a synchronized batch norm, forward.
 * Per element of channel c (Ioffe and Szegedy 2015, arXiv:1502.03167, algorithm 1, last two lines):
 *     y = (x - mean[c]) * invstd[c] * weight[c] + bias[c]
 *
 * parameter  dir  shape        dtype             meaning; what NULL means
 * input      in   [N, C, ...]  f16 bf16 f32 f64  x; rank 2 to 8, any strides; the channel axis is axis 1; C >
 *                                                0
 * weight     in   [C]          f16 bf16 f32 f64  NULL: 1
 * bias       in   [C]          f16 bf16 f32 f64  NULL: 0
 * mean       in   [C]          f16 bf16 f32 f64
 * invstd     in   [C]          f16 bf16 f32 f64  1 / sqrt(var + eps); used as given, also 0 and negative
 *                                                values
 * eps        in   double       -                 no effect: invstd contains it
 * output     out  [N, C, ...]  that of input     y; shape and label of input; may be the same view as input
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Labels       ND, NC, NCL, NCHW, NCDHW at any rank.
 * Empty, NaN   no elements but C > 0: success, nothing written.
 * Accuracy     half an ulp plus 3 roundings of |(x - mean) * invstd * weight|, in float32 (float64 for
 *              float64 data), also where the mean is far above the standard deviation; the same bits on every
 *              run and for any number of threads.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor, input, mean, invstd or
 *         output; BNAPI_ERR_PARAM_INVALID for a dtype, label, rank or shape outside the table, or C = 0.
 */
BNAPI_EXPORT bnapiStatus bnapiBatchNormElemtGetWorkspaceSize(const bnapiTensor* input,
                                                             const bnapiTensor* weight,
                                                             const bnapiTensor* bias, bnapiTensor* mean,
                                                             bnapiTensor* invstd, double eps,
                                                             bnapiTensor* output, uint64_t* workspaceSize,
                                                             bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiBatchNormElemtGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiBatchNormElemt(void* workspace, uint64_t workspaceSize,
                                             bnapiOpExecutor* executor, bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_BATCH_NORM_ELEMT_H_ */
