#ifndef BN_API_BATCH_NORM_REDUCE_H_
#define BN_API_BATCH_NORM_REDUCE_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The raw sums of each channel, for bnapiSyncBatchNormGatherStats.
 * Per channel c, over its elements (sums as they stand; nothing is subtracted first):
 *     sum[c] = sum(x)    squareSum[c] = sum(x^2)
 *
 * parameter  dir  shape         dtype             meaning; what NULL means
 * x          in   [N, C, H, W]  f16 bf16 f32 f64  rank 4, any strides; label NCHW, or NHWC with shape [N, H,
 *                                                 W, C]
 * sum        out  [C]           f32 f64           label ND
 * squareSum  out  [C]           f32 f64           label ND
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Empty, NaN   if any of the three tensors is empty, all elements of the others are 0 and no shape or label
 *              is checked. NaN and Inf stay in their own channel.
 * Accuracy     half an ulp of the output, plus a few float64 roundings of sum(|terms|), for any length; the
 *              same bits on every run and for any number of threads.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor or tensor;
 *         BNAPI_ERR_PARAM_INVALID for a dtype, label, rank or shape outside the table.
 */
BNAPI_EXPORT bnapiStatus bnapiBatchNormReduceGetWorkspaceSize(const bnapiTensor* x, bnapiTensor* sum,
                                                              bnapiTensor* squareSum, uint64_t* workspaceSize,
                                                              bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiBatchNormReduceGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiBatchNormReduce(void* workspace, uint64_t workspaceSize,
                                              bnapiOpExecutor* executor, bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_BATCH_NORM_REDUCE_H_ */
