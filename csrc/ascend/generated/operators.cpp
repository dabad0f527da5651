// Written by csrc/ascend/generate.py; do not edit.
//
// The operators under the vendor's names: the neutral functions, called in the Ascend dialect.
// clang-format off
#include "aclnnop/aclnn_batch_norm_backward_reduce.h"
#include "bn_api/batch_norm_reduce_backward.h"
#include "ascend/forward.h"

extern "C" {

aclnnStatus aclnnBatchNormReduceBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* mean, const aclTensor* invstd,
    const aclTensor* weight, bool inputG, bool weightG, bool biasG, aclTensor* sumDy, aclTensor* sumDyXmu,
    aclTensor* gradWeight, aclTensor* gradBias, uint64_t* workspaceSize, aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormReduceBackwardGetWorkspaceSize(
      neutral(gradOut), neutral(input), neutral(mean), neutral(invstd), neutral(weight), inputG, weightG,
      biasG, neutral(sumDy), neutral(sumDyXmu), neutral(gradWeight), neutral(gradBias), workspaceSize,
      neutral(executor)));
}

aclnnStatus aclnnBatchNormReduceBackward(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormReduceBackward(workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

}  // extern "C"
