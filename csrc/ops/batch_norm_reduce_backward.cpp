#include "bn_api/batch_norm_reduce_backward.h"

#include "core/checker.h"
#include "core/program_builder.h"

namespace bn {
namespace {

struct Arguments {
  Param grad_out, input, mean, invstd, weight;
  bool input_g, weight_g, bias_g;
  Param sum_dy, sum_dy_xmu, grad_weight, grad_bias;
};

Program plan(const Call& call, const Arguments& a) {
  const Checker check(call);
  check.required({a.grad_out, a.input, a.mean, a.invstd});
  if (a.input_g) check.required({a.sum_dy, a.sum_dy_xmu});
  if (a.weight_g) check.required({a.grad_weight});
  if (a.bias_g) check.required({a.grad_bias});
  check.views(
      {a.grad_out, a.input, a.mean, a.invstd, a.weight, a.sum_dy, a.sum_dy_xmu, a.grad_weight, a.grad_bias});
  check.dtypes(kFloatTypes, {a.grad_out, a.input, a.mean, a.invstd});
  check.same_dtype(a.input, {a.grad_out});
  check.dtypes(kFloatTypes, {a.sum_dy, a.sum_dy_xmu, a.grad_weight, a.grad_bias});
  check.same_label(a.input, {a.grad_out});
  check.labels(kPublicLabels, {a.grad_out, a.input, a.mean, a.invstd});
  check.labels(kPublicLabels, {a.sum_dy, a.sum_dy_xmu, a.grad_weight, a.grad_bias});
  check.rank(2, kMaxRank, {a.grad_out, a.input});
  check.axis_not_empty(a.input, 1);
  const Channels channels(a.input, 1);
  check.per_channel(channels, {a.sum_dy, a.sum_dy_xmu, a.grad_weight, a.grad_bias});

  if (a.grad_out->empty() || a.input->empty() || a.mean->empty() || a.invstd->empty()) {
    FillProgram zeros(call);
    for (const Param* output : {&a.sum_dy, &a.sum_dy_xmu, &a.grad_weight, &a.grad_bias})
      zeros.fill(*output, 0);
    return zeros.build();
  }

  check.same_shape(a.input, {a.grad_out});
  check.per_channel(channels, {a.mean, a.invstd, a.weight});
  check.dtypes(kFloatTypes, {a.weight});
  check.written_once({a.sum_dy, a.sum_dy_xmu, a.grad_weight, a.grad_bias});
  if (!a.input_g && !a.weight_g && !a.bias_g) return Program();

  ProgramBuilder program(channels);
  program->reduce = Reduce::kDyDotXmu;
  program->finalize = Finalize::kReduceBackward;
  program.data(&Program::dy, a.grad_out);
  program.data(&Program::x, a.input);
  program.per_channel(&Program::mean, a.mean);
  program.per_channel(&Program::invstd, a.invstd);
  program.per_channel(&Program::sum_dy, a.sum_dy);
  program.per_channel(&Program::sum_dy_xmu, a.sum_dy_xmu);
  program.per_channel(&Program::grad_weight, a.grad_weight);
  program.per_channel(&Program::grad_bias, a.grad_bias);
  return program.build();
}

}  // namespace
}  // namespace bn

bnapiStatus bnapiBatchNormReduceBackwardGetWorkspaceSize(const bnapiTensor* gradOut, const bnapiTensor* input,
                                                         const bnapiTensor* mean, const bnapiTensor* invstd,
                                                         const bnapiTensor* weight, bool inputG, bool weightG,
                                                         bool biasG, bnapiTensor* sumDy,
                                                         bnapiTensor* sumDyXmu, bnapiTensor* gradWeight,
                                                         bnapiTensor* gradBias, uint64_t* workspaceSize,
                                                         bnapiOpExecutor** executor) {
  return bn::phase_one(bn::Op::kBatchNormReduceBackward, workspaceSize, executor, [&](bn::Call& call) {
    bn::Arguments a;
    a.grad_out = call.input("gradOut", gradOut);
    a.input = call.input("input", input);
    a.mean = call.input("mean", mean);
    a.invstd = call.input("invstd", invstd);
    a.weight = call.input("weight", weight);
    a.input_g = inputG;
    a.weight_g = weightG;
    a.bias_g = biasG;
    a.sum_dy = call.output("sumDy", sumDy, inputG);
    a.sum_dy_xmu = call.output("sumDyXmu", sumDyXmu, inputG);
    a.grad_weight = call.output("gradWeight", gradWeight, weightG);
    a.grad_bias = call.output("gradBias", gradBias, biasG);
    return bn::plan(call, a);
  });
}

bnapiStatus bnapiBatchNormReduceBackward(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                         bnapiStream stream) {
  return bn::phase_two(bn::Op::kBatchNormReduceBackward, workspace, workspaceSize, executor, stream);
}
