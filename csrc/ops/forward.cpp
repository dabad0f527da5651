#include "ops/forward.h"

#include <limits>

#include "core/checker.h"
#include "core/program_builder.h"

namespace bn {
namespace {

// Statistics of nothing: mean 0, invstd NaN, running values as they were.
Program plan_empty(const Call& call, const ForwardArguments& a) {
  Checker(call).dtypes(kFloatTypes, {a.save_mean, a.save_invstd});
  if (a.input->rank() >= 2 && Channels(a.input, channel_axis(a.input)).count == 0) return Program();
  return FillProgram(call)
      .fill(a.save_mean, 0)
      .fill(a.save_invstd, std::numeric_limits<double>::quiet_NaN())
      .build();
}

}  // namespace

Program plan_forward(const Call& call, const ForwardArguments& a) {
  const Checker check(call);
  check.required({a.input, a.output});
  if (a.training) check.required({a.save_mean, a.save_invstd});
  check.views({a.input, a.weight, a.bias, a.running_mean, a.running_var, a.residual, a.output});
  if (a.training || a.input->empty()) check.views({a.save_mean, a.save_invstd});
  if (a.input->empty()) return plan_empty(call, a);

  check.dtypes(kFloatTypes, {a.input, a.output, a.residual});
  if (a.training) check.dtypes(kFloatTypes, {a.save_mean, a.save_invstd});
  check.dtypes(kFloatTypes, {a.weight, a.bias, a.running_mean, a.running_var});
  check.same_label(a.input, {a.output, a.residual});
  check.batch_norm_labels({a.input, a.output});
  check.rank(2, kMaxRank, {a.input, a.output});
  check.same_shape(a.input, {a.output, a.residual});
  const Channels channels(a.input, channel_axis(a.input));
  check.per_channel(channels, {a.weight, a.bias, a.running_mean, a.running_var});
  if (a.training) check.per_channel(channels, {a.save_mean, a.save_invstd});
  check.same_dtype(a.input, {a.output, a.residual});
  check.written_once({a.output});
  if (a.training) check.written_once({a.running_mean, a.running_var, a.save_mean, a.save_invstd});

  ProgramBuilder program(channels);
  program->reduce = a.training ? Reduce::kMoments : Reduce::kNone;
  program->finalize = a.training ? Finalize::kTrain : Finalize::kInference;
  program->map = Map::kNormalize;
  program->relu = a.relu;
  program->eps = a.eps;
  program->momentum = a.momentum;
  program.data(&Program::x, a.input);
  program.data(&Program::extra, a.residual);
  program.data(&Program::out, a.output);
  program.per_channel(&Program::weight, a.weight);
  program.per_channel(&Program::bias, a.bias);
  program.per_channel(&Program::running_mean, a.running_mean);
  program.per_channel(&Program::running_var, a.running_var);
  if (a.training) {
    program.per_channel(&Program::mean_out, a.save_mean);
    program.per_channel(&Program::invstd_out, a.save_invstd);
  }
  return program.build();
}

}  // namespace bn
