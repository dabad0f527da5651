/* Executors: planned calls.
 *
 * Phase one of an operator checks its arguments and gives an executor; phase two runs it once and frees it,
 * whatever the outcome, unless it was made repeatable. A spent, destroyed or made-up executor is refused with
 * BNAPI_ERR_INNER_NULLPTR (spent or destroyed) or BNAPI_ERR_INNER (never was one).
 */
#ifndef BN_API_EXECUTOR_H_
#define BN_API_EXECUTOR_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lets phase two run the executor any number of times; the caller then destroys it. */
BNAPI_EXPORT bnapiStatus bnapiSetOpExecutorRepeatable(bnapiOpExecutor* executor);
/* Releases an executor that was not consumed. NULL: BNAPI_ERR_INNER_NULLPTR. */
BNAPI_EXPORT bnapiStatus bnapiDestroyOpExecutor(bnapiOpExecutor* executor);

/* Aim a planned executor at new memory; later runs use it, queued ones do not. `index` counts the tensor
 * parameters in the order of the C signature (inputs, outputs, or inputs then outputs; optional ones count even
 * when NULL, tensors updated in place are inputs). `tensor` must be the one planned for that place.
 * Null executor or tensor: BNAPI_ERR_INNER_NULLPTR; a bad index, an absent optional or another tensor:
 * BNAPI_ERR_PARAM_INVALID. `addr` is the buffer's start, before the tensor's offset. */
BNAPI_EXPORT bnapiStatus bnapiSetInputTensorAddr(bnapiOpExecutor* executor, size_t index, bnapiTensor* tensor,
                                                 void* addr);
BNAPI_EXPORT bnapiStatus bnapiSetOutputTensorAddr(bnapiOpExecutor* executor, size_t index,
                                                  bnapiTensor* tensor, void* addr);
BNAPI_EXPORT bnapiStatus bnapiSetTensorAddr(bnapiOpExecutor* executor, size_t index, bnapiTensor* tensor,
                                            void* addr);
/* The same for `count` leading places at once, inputs then outputs, without naming tensors; a NULL entry leaves
 * its place as it is. Meant for callers that plan once and run on new arrays. */
BNAPI_EXPORT bnapiStatus bnapiSetTensorAddrs(bnapiOpExecutor* executor, void* const* addrs, size_t count);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_EXECUTOR_H_ */
