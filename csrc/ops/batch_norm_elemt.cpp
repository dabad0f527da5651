#include "bn_api/batch_norm_elemt.h"

#include "core/checker.h"
#include "core/program_builder.h"

namespace bn {
namespace {

struct Arguments {
  Param input, weight, bias, mean, invstd, output;
};

Program plan(const Call& call, const Arguments& a) {
  const Checker check(call);
  check.required({a.input, a.mean, a.invstd, a.output});
  check.views({a.input, a.weight, a.bias, a.mean, a.invstd, a.output});
  check.dtypes(kFloatTypes, {a.input, a.weight, a.bias, a.mean, a.invstd, a.output});
  check.same_label(a.input, {a.output});
  check.labels(kChannelFirstLabels, {a.input});
  check.rank(2, kMaxRank, {a.input, a.output});
  check.same_shape(a.input, {a.output});
  check.axis_not_empty(a.input, 1);
  const Channels channels(a.input, 1);
  check.per_channel(channels, {a.weight, a.bias, a.mean, a.invstd});
  check.same_dtype(a.input, {a.output});
  check.written_once({a.output});
  if (a.input->empty()) return Program();

  ProgramBuilder program(channels);
  program->finalize = Finalize::kElemt;
  program->map = Map::kNormalize;
  program.data(&Program::x, a.input);
  program.data(&Program::out, a.output);
  program.per_channel(&Program::weight, a.weight);
  program.per_channel(&Program::bias, a.bias);
  program.per_channel(&Program::mean, a.mean);
  program.per_channel(&Program::invstd, a.invstd);
  return program.build();
}

}  // namespace
}  // namespace bn

bnapiStatus bnapiBatchNormElemtGetWorkspaceSize(const bnapiTensor* input, const bnapiTensor* weight,
                                                const bnapiTensor* bias, bnapiTensor* mean,
                                                bnapiTensor* invstd, double eps, bnapiTensor* output,
                                                uint64_t* workspaceSize, bnapiOpExecutor** executor) {
  return bn::phase_one(bn::Op::kBatchNormElemt, workspaceSize, executor, [&](bn::Call& call) {
    (void)eps;  // invstd contains it
    bn::Arguments a;
    a.input = call.input("input", input);
    a.weight = call.input("weight", weight);
    a.bias = call.input("bias", bias);
    a.mean = call.input("mean", mean);
    a.invstd = call.input("invstd", invstd);
    a.output = call.output("output", output);
    return bn::plan(call, a);
  });
}

bnapiStatus bnapiBatchNormElemt(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                bnapiStream stream) {
  return bn::phase_two(bn::Op::kBatchNormElemt, workspace, workspaceSize, executor, stream);
}
