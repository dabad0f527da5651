#ifndef BN_API_SYNC_BATCH_NORM_GATHER_STATS_H_
#define BN_API_SYNC_BATCH_NORM_GATHER_STATS_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Turns the raw sums of K ranks into batch statistics and updates the running ones.
 * Per channel c, over the ranks k, with n = sum(sampleCount) (the definition of mean and variance):
 *     batchMean[c] = sum(totalSum[k, c]) / n
 *     var = max(sum(totalSquareSum[k, c]) / n - batchMean[c]^2, 0)
 *     batchInvstd[c] = 1 / sqrt(var + eps)
 *     mean[c] = (1 - momentum) * mean[c] + momentum * batchMean[c]
 *     variance[c] = (1 - momentum) * variance[c] + momentum * var * n / (n - 1)
 *
 * parameter       dir     shape   dtype                 meaning; what NULL means
 * totalSum        in      [K, C]  f16 bf16 f32 f64      sum(x) of a rank; K > 0
 * totalSquareSum  in      [K, C]  that of totalSum      sum(x^2) of a rank, as bnapiBatchNormReduce gives it
 * sampleCount     in      [K]     f16 bf16 f32 f64 i32  elements per channel of each rank; fractions are cut
 *                                                       off
 * mean            in/out  [C]     that of totalSum      running mean, updated in place
 * variance        in/out  [C]     that of totalSum      running variance, updated in place
 * momentum        in      float   -                     weight of the batch in the running values; not
 *                                                       validated
 * eps             in      float   -                     added to the variance; not validated
 * batchMean       out     [C]     f16 bf16 f32 f64
 * batchInvstd     out     [C]     that of batchMean
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Empty, NaN   C = 0: success, nothing written. n = 1: the running variance is NaN, or Inf for var > 0. n =
 *              0: divides by 0.
 * Accuracy     everything in float64, rounded once; but raw moments that came rounded to float32 or less may
 *              already have lost a variance that is small beside the mean squared.
 *              bnapiBatchNormGatherStatsWithCounts has no such weakness.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor or tensor;
 *         BNAPI_ERR_PARAM_INVALID for a dtype, rank or shape outside the table, a private label of an input,
 *         or K = 0.
 */
BNAPI_EXPORT bnapiStatus bnapiSyncBatchNormGatherStatsGetWorkspaceSize(
    const bnapiTensor* totalSum, const bnapiTensor* totalSquareSum, const bnapiTensor* sampleCount,
    bnapiTensor* mean, bnapiTensor* variance, float momentum, float eps, bnapiTensor* batchMean,
    bnapiTensor* batchInvstd, uint64_t* workspaceSize, bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiSyncBatchNormGatherStatsGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiSyncBatchNormGatherStats(void* workspace, uint64_t workspaceSize,
                                                       bnapiOpExecutor* executor, bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_SYNC_BATCH_NORM_GATHER_STATS_H_ */
