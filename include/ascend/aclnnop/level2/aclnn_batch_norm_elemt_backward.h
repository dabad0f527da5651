/* Written by csrc/ascend/generate.py; do not edit.
 *
 * aclnnBatchNormElemtBackward
 * The input gradient from sums that were reduced over all ranks.
 * Formula, shapes, types and status codes are those of bnapiBatchNormElemtBackward, in
 * bn_api/batch_norm_elemt_backward.h, less float64, which this name refuses.
 */
/* clang-format off */
#ifndef ACLNN_BATCH_NORM_ELEMT_BACKWARD_H_
#define ACLNN_BATCH_NORM_ELEMT_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Phase one: checks and plans. Touches no data; on failure both out parameters are left alone. */
ACLNN_API aclnnStatus aclnnBatchNormElemtBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* mean, const aclTensor* invstd,
    const aclTensor* weight, const aclTensor* sumDy, const aclTensor* sumDyXmu, aclTensor* counter,
    aclTensor* gradInput, uint64_t* workspaceSize, aclOpExecutor** executor);

/* Phase two: enqueues the planned work on the stream, and frees the executor unless it is repeatable. */
ACLNN_API aclnnStatus aclnnBatchNormElemtBackward(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif /* ACLNN_BATCH_NORM_ELEMT_BACKWARD_H_ */
