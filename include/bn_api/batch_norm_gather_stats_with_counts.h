#ifndef BN_API_BATCH_NORM_GATHER_STATS_WITH_COUNTS_H_
#define BN_API_BATCH_NORM_GATHER_STATS_WITH_COUNTS_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Merges the statistics of K ranks into those of all their elements: the middle step of a
 * synchronized batch norm.
 * Per channel c, over the ranks k, with n = sum(counts) (Chan, Golub and LeVeque 1979):
 *     meanAll[c] = sum(mean[k, c] * counts[k]) / n
 *     V = sum((1 / invstd[k, c]^2 - eps + (mean[k, c] - meanAll[c])^2) * counts[k])
 *     invstdAll[c] = 1 / sqrt(V / n + eps)
 *     runningMean[c] = (1 - momentum) * runningMean[c] + momentum * meanAll[c]
 *     runningVar[c] = (1 - momentum) * runningVar[c] + momentum * V / (n - 1)
 *
 * parameter    dir     shape        dtype             meaning; what NULL means
 * input        in      [N, C, ...]  f16 bf16 f32 f64  gives C and nothing else: its data is not read and may
 *                                                     be absent
 * mean         in      [K, C]       f16 bf16 f32 f64  a rank's mean
 * invstd       in      [K, C]       f16 bf16 f32 f64  a rank's 1 / sqrt(var + eps), with this call's eps
 * runningMean  in/out  [C]          f16 bf16 f32 f64  updated in place; NULL: not. Independent of runningVar
 * runningVar   in/out  [C]          f16 bf16 f32 f64  updated in place; NULL: not
 * momentum     in      double       -                 weight of the batch in the running values; not
 *                                                     validated
 * eps          in      double       -                 what invstd contains; not validated
 * counts       in      [K]          f16 bf16 f32 f64  elements per channel of each rank
 * meanAll      out     [C]          f16 bf16 f32 f64
 * invstdAll    out     [C]          f16 bf16 f32 f64
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Empty, NaN   a rank with count 0 contributes nothing, even if its statistics are NaN. K = 0 or all counts
 *              0: meanAll is 0, invstdAll NaN, running values stay. C = 0: success, nothing written. n = 1: V
 *              / 0.
 * Accuracy     everything in float64, rounded once.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor, input, mean, invstd,
 *         counts, meanAll or invstdAll; BNAPI_ERR_PARAM_INVALID for a dtype, rank or shape outside the table,
 *         or a private label of an input.
 */
BNAPI_EXPORT bnapiStatus bnapiBatchNormGatherStatsWithCountsGetWorkspaceSize(
    const bnapiTensor* input, const bnapiTensor* mean, const bnapiTensor* invstd, bnapiTensor* runningMean,
    bnapiTensor* runningVar, double momentum, double eps, const bnapiTensor* counts, bnapiTensor* meanAll,
    bnapiTensor* invstdAll, uint64_t* workspaceSize, bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiBatchNormGatherStatsWithCountsGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiBatchNormGatherStatsWithCounts(void* workspace, uint64_t workspaceSize,
                                                             bnapiOpExecutor* executor, bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_BATCH_NORM_GATHER_STATS_WITH_COUNTS_H_ */
