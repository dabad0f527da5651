#include "bn_api/batch_norm_elemt_backward.h"

#include "core/checker.h"
#include "core/program_builder.h"

namespace bn {
namespace {

struct Arguments {
  Param grad_out, input, mean, invstd, weight, sum_dy, sum_dy_xmu, counter, grad_input;
};

Program plan(const Call& call, const Arguments& a) {
  const Checker check(call);
  check.required({a.grad_out, a.input, a.mean, a.invstd, a.sum_dy, a.sum_dy_xmu, a.counter, a.grad_input});
  check.views(
      {a.grad_out, a.input, a.mean, a.invstd, a.weight, a.sum_dy, a.sum_dy_xmu, a.counter, a.grad_input});
  check.dtypes(kFloatTypes, {a.grad_out, a.input, a.mean, a.invstd, a.weight, a.sum_dy, a.sum_dy_xmu});
  check.dtypes(kCounterTypes, {a.counter});
  check.dtypes(kFloatTypes, {a.grad_input});
  check.labels(kPublicLabels, {a.grad_out, a.input, a.grad_input});
  check.rank(2, kMaxRank, {a.input});
  check.rank(0, kMaxRank, {a.grad_out, a.grad_input, a.counter});
  check.axis_not_empty(a.input, 1);
  check.same_shape(a.input, {a.grad_out, a.grad_input});
  const Channels channels(a.input, 1);
  check.per_channel(channels, {a.mean, a.invstd, a.weight, a.sum_dy, a.sum_dy_xmu});
  check.written_once({a.grad_input});
  if (a.input->empty()) return Program();

  ProgramBuilder program(channels);
  program->finalize = Finalize::kElemtBackward;
  program->map = Map::kBackward;
  program.data(&Program::dy, a.grad_out);
  program.data(&Program::x, a.input);
  program.data(&Program::out, a.grad_input);
  program.per_channel(&Program::mean, a.mean);
  program.per_channel(&Program::invstd, a.invstd);
  program.per_channel(&Program::weight, a.weight);
  program.per_channel(&Program::sum_dy_in, a.sum_dy);
  program.per_channel(&Program::sum_dy_xmu_in, a.sum_dy_xmu);
  program.tensor(&Program::counts, a.counter);
  return program.build();
}

}  // namespace
}  // namespace bn

bnapiStatus bnapiBatchNormElemtBackwardGetWorkspaceSize(const bnapiTensor* gradOut, const bnapiTensor* input,
                                                        const bnapiTensor* mean, const bnapiTensor* invstd,
                                                        const bnapiTensor* weight, const bnapiTensor* sumDy,
                                                        const bnapiTensor* sumDyXmu, bnapiTensor* counter,
                                                        bnapiTensor* gradInput, uint64_t* workspaceSize,
                                                        bnapiOpExecutor** executor) {
  return bn::phase_one(bn::Op::kBatchNormElemtBackward, workspaceSize, executor, [&](bn::Call& call) {
    bn::Arguments a;
    a.grad_out = call.input("gradOut", gradOut);
    a.input = call.input("input", input);
    a.mean = call.input("mean", mean);
    a.invstd = call.input("invstd", invstd);
    a.weight = call.input("weight", weight);
    a.sum_dy = call.input("sumDy", sumDy);
    a.sum_dy_xmu = call.input("sumDyXmu", sumDyXmu);
    a.counter = call.input("counter", counter);
    a.grad_input = call.output("gradInput", gradInput);
    return bn::plan(call, a);
  });
}

bnapiStatus bnapiBatchNormElemtBackward(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                        bnapiStream stream) {
  return bn::phase_two(bn::Op::kBatchNormElemtBackward, workspace, workspaceSize, executor, stream);
}
