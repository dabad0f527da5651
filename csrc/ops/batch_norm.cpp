#include "bn_api/batch_norm.h"

#include "ops/forward.h"

bnapiStatus bnapiBatchNormGetWorkspaceSize(const bnapiTensor* input, const bnapiTensor* weight,
                                           const bnapiTensor* bias, bnapiTensor* runningMean,
                                           bnapiTensor* runningVar, bool training, double momentum,
                                           double eps, bnapiTensor* output, bnapiTensor* saveMean,
                                           bnapiTensor* saveInvstd, uint64_t* workspaceSize,
                                           bnapiOpExecutor** executor) {
  return bn::phase_one(bn::Op::kBatchNorm, workspaceSize, executor, [&](bn::Call& call) {
    bn::ForwardArguments a;
    a.input = call.input("input", input);
    a.weight = call.input("weight", weight);
    a.bias = call.input("bias", bias);
    a.running_mean = call.input("runningMean", runningMean);
    a.running_var = call.input("runningVar", runningVar);
    a.training = training;
    a.momentum = momentum;
    a.eps = eps;
    a.output = call.output("output", output);
    a.save_mean = call.output("saveMean", saveMean);
    a.save_invstd = call.output("saveInvstd", saveInvstd);
    return bn::plan_forward(call, a);
  });
}

bnapiStatus bnapiBatchNorm(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                           bnapiStream stream) {
  return bn::phase_two(bn::Op::kBatchNorm, workspace, workspaceSize, executor, stream);
}
