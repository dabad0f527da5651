#include "bn_api/fast_batch_norm_backward.h"

#include "ops/backward.h"

bnapiStatus bnapiFastBatchNormBackwardGetWorkspaceSize(
    const bnapiTensor* gradOut, const bnapiTensor* input, const bnapiTensor* weight,
    const bnapiTensor* runningMean, const bnapiTensor* runningVar, const bnapiTensor* saveMean,
    const bnapiTensor* saveInvstd, bool training, double eps, const bnapiBoolArray* outputMask,
    int /* version */, bnapiTensor* gradInput, bnapiTensor* gradWeight, bnapiTensor* gradBias,
    uint64_t* workspaceSize, bnapiOpExecutor** executor) {
  return bn::phase_one(bn::Op::kFastBatchNormBackward, workspaceSize, executor, [&](bn::Call& call) {
    const bn::OutputMask mask(call, outputMask, 3);
    bn::BackwardArguments a;
    a.grad_out = call.input("gradOut", gradOut);
    a.input = call.input("input", input);
    a.weight = call.input("weight", weight);
    a.running_mean = call.input("runningMean", runningMean);
    a.running_var = call.input("runningVar", runningVar);
    a.save_mean = call.input("saveMean", saveMean);
    a.save_invstd = call.input("saveInvstd", saveInvstd);
    a.training = training;
    a.eps = eps;
    a.grad_input = call.output("gradInput", gradInput, mask[0]);
    a.grad_weight = call.output("gradWeight", gradWeight, mask[1]);
    a.grad_bias = call.output("gradBias", gradBias, mask[2]);
    return bn::plan_backward(call, a, mask, bn::BackwardRules::kFast);
  });
}

bnapiStatus bnapiFastBatchNormBackward(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                       bnapiStream stream) {
  return bn::phase_two(bn::Op::kFastBatchNormBackward, workspace, workspaceSize, executor, stream);
}
