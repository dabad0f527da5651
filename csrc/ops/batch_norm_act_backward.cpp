#include "bn_api/batch_norm_act_backward.h"

#include "ops/activation.h"
#include "ops/backward.h"

bnapiStatus bnapiBatchNormActBackwardGetWorkspaceSize(
    const bnapiTensor* gradOut, const bnapiTensor* input, const bnapiTensor* output,
    const bnapiTensor* weight, const bnapiTensor* runningMean, const bnapiTensor* runningVar,
    const bnapiTensor* saveMean, const bnapiTensor* saveInvstd, bool training, double eps,
    bnapiActivation activation, const bnapiBoolArray* outputMask, bnapiTensor* gradInput,
    bnapiTensor* gradWeight, bnapiTensor* gradBias, bnapiTensor* gradResidual, uint64_t* workspaceSize,
    bnapiOpExecutor** executor) {
  return bn::phase_one(bn::Op::kBatchNormActBackward, workspaceSize, executor, [&](bn::Call& call) {
    const bn::OutputMask mask(call, outputMask, 4);
    bn::BackwardArguments a;
    a.grad_out = call.input("gradOut", gradOut);
    a.input = call.input("input", input);
    a.output = call.input("output", output);
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
    a.grad_residual = call.output("gradResidual", gradResidual, mask[3]);
    a.relu = bn::is_relu(call, activation);
    return bn::plan_backward(call, a, mask, bn::BackwardRules::kFull);
  });
}

bnapiStatus bnapiBatchNormActBackward(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                      bnapiStream stream) {
  return bn::phase_two(bn::Op::kBatchNormActBackward, workspace, workspaceSize, executor, stream);
}
