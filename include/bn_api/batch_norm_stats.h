#ifndef BN_API_BATCH_NORM_STATS_H_
#define BN_API_BATCH_NORM_STATS_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The statistics of each channel: what one rank of a synchronized batch norm contributes.
 * Per channel c, over its n elements (two-pass formula; tiles are merged as in Chan, Golub and LeVeque 1979):
 *     mean[c] = sum(x) / n    invstd[c] = 1 / sqrt(var + eps)    var = sum((x - mean[c])^2) / n
 *
 * parameter  dir  shape        dtype             meaning; what NULL means
 * input      in   [N, C, ...]  f16 bf16 f32 f64  x; rank 2 to 8, any strides; the channel axis is always axis
 *                                                1; C > 0
 * eps        in   double       -                 added to the variance; not validated
 * mean       out  [C]          f32 f64
 * invstd     out  [C]          f32 f64
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Empty, NaN   no elements but C > 0: mean is 0 and invstd NaN. A constant channel has variance exactly 0.
 *              NaN and Inf stay in their own channel.
 * Accuracy     half an ulp of the output, plus a few float64 roundings of the terms, for any length and for
 *              means far above the standard deviation; the same bits on every run and for any number of
 *              threads.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor, input, mean or invstd;
 *         BNAPI_ERR_PARAM_INVALID for a dtype, rank or shape outside the table, a private label, or C = 0.
 */
BNAPI_EXPORT bnapiStatus bnapiBatchNormStatsGetWorkspaceSize(const bnapiTensor* input, double eps,
                                                             bnapiTensor* mean, bnapiTensor* invstd,
                                                             uint64_t* workspaceSize,
                                                             bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiBatchNormStatsGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiBatchNormStats(void* workspace, uint64_t workspaceSize,
                                             bnapiOpExecutor* executor, bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_BATCH_NORM_STATS_H_ */
