#include "ops/backward.h"

#include "core/checker.h"
#include "core/program_builder.h"

namespace bn {
namespace {

// Sums over nothing are 0. Gradients of a type that cannot be written are left alone: nothing else is checked here.
Program plan_empty(const Call& call, const BackwardArguments& a) {
  Checker(call).views({a.grad_weight, a.grad_bias});
  FillProgram zeros(call);
  for (const Param* grad : {&a.grad_weight, &a.grad_bias}) {
    if (*grad && allows(call, kFloatTypes, (*grad)->dtype)) zeros.fill(*grad, 0);
  }
  return zeros.build();
}

// Does the parameter have length 0, as saved statistics may in inference?
bool has_length_0(const Param& param) {
  return param && param->rank() == 1 && param->shape[0] == 0;
}

void check_dtypes(const Checker& check, const BackwardArguments& a, BackwardRules rules) {
  check.dtypes(kFloatTypes, {a.grad_out, a.input});
  check.same_dtype(a.grad_out, {a.input, a.output});
  check.dtypes(kFloatTypes, {a.grad_input, a.grad_weight, a.grad_bias, a.grad_residual});
  check.dtypes(kFloatTypes, {a.weight, a.running_mean, a.running_var, a.save_mean, a.save_invstd});
  if (rules == BackwardRules::kFull) {
    check.same_dtype_or_float32(a.grad_out, {a.weight, a.running_mean, a.running_var});
    check.same_dtype(a.running_mean, {a.running_var});
    check.same_dtype_or_float32(a.grad_out, {a.save_mean, a.save_invstd});
    check.same_dtype(a.save_mean, {a.save_invstd});
    check.same_dtype_or_float32(a.weight, {a.grad_weight, a.grad_bias});
    check.same_dtype(a.grad_weight, {a.grad_bias});
  }
  check.same_dtype(a.grad_out, {a.grad_input, a.grad_residual});
}

void check_data(const Checker& check, const BackwardArguments& a, BackwardRules rules) {
  check.same_label(a.grad_out, {a.input, a.output, a.grad_input, a.grad_residual});
  if (rules == BackwardRules::kFull) {
    check.batch_norm_labels({a.input, a.grad_out, a.grad_input});
  } else {
    check.labels(kChannelFirstLabels, {a.grad_out, a.input});
  }
  check.rank(2, kMaxRank, {a.input, a.grad_out});
  check.same_shape(a.grad_out, {a.input, a.output});
  check.rank(2, kMaxRank, {a.grad_input, a.grad_residual});
  check.same_shape(a.grad_out, {a.grad_input, a.grad_residual});
}

void check_channels(const Call& call, const Channels& channels, const BackwardArguments& a,
                    BackwardRules rules) {
  const Checker check(call);
  check.per_channel(channels, {a.weight, a.running_mean, a.running_var});
  for (const Param* saved : {&a.save_mean, &a.save_invstd}) {
    const bool unused = !a.training && (rules == BackwardRules::kFast || has_length_0(*saved));
    if (!unused) check.per_channel(channels, {*saved});
  }
  const Checker check_grads(
      call, rules == BackwardRules::kFast ? BNAPI_ERR_INNER_NULLPTR : BNAPI_ERR_PARAM_INVALID);
  check_grads.per_channel(channels, {a.grad_weight, a.grad_bias});
}

}  // namespace

Program plan_backward(const Call& call, const BackwardArguments& a, const OutputMask& mask,
                      BackwardRules rules) {
  const Checker check(call);
  check.required({a.grad_out, a.input});
  if (a.relu) check.required({a.output});
  check.views(
      {a.grad_out, a.input, a.output, a.weight, a.running_mean, a.running_var, a.save_mean, a.save_invstd});
  if (a.input->empty() || a.grad_out->empty()) return plan_empty(call, a);

  check.mask("outputMask", mask.array(), mask.length());
  const Param* outputs[] = {&a.grad_input, &a.grad_weight, &a.grad_bias, &a.grad_residual};
  bool any = false;
  for (size_t i = 0; i < mask.length(); ++i) {
    if (mask[i]) check.required({*outputs[i]});
    any = any || mask[i];
  }
  check.views({a.grad_input, a.grad_weight, a.grad_bias, a.grad_residual});
  check_dtypes(check, a, rules);
  check_data(check, a, rules);
  const Channels channels(a.grad_out, rules == BackwardRules::kFull ? channel_axis(a.grad_out) : 1);
  check_channels(call, channels, a, rules);
  check.written_once({a.grad_input, a.grad_weight, a.grad_bias, a.grad_residual});
  if (!any) return Program();

  const bool sums = a.grad_weight || a.grad_bias;
  const bool elements = a.grad_input || a.grad_residual;
  ProgramBuilder program(channels);
  if (a.training) {
    // The sums enter dx; gradResidual alone needs neither them nor any coefficient.
    const bool reduce = sums || a.grad_input;
    program->reduce = reduce ? Reduce::kDyDotXmu : Reduce::kNone;
    program->finalize = reduce ? Finalize::kBackwardTrain : Finalize::kNone;
    program->map = a.grad_input ? Map::kBackward : (elements ? Map::kScale : Map::kNone);
    program.per_channel(&Program::mean, a.save_mean);
    program.per_channel(&Program::invstd, a.save_invstd);
  } else {
    program->reduce = sums ? Reduce::kDyDotXmu : Reduce::kNone;
    program->finalize = Finalize::kBackwardInference;
    program->map = elements ? Map::kScale : Map::kNone;
    program.per_channel(&Program::running_mean, a.running_mean);
    program.per_channel(&Program::running_var, a.running_var);
  }
  program->relu = a.relu;
  program->eps = a.eps;
  program.data(&Program::dy, a.grad_out);
  program.data(&Program::x, a.input);
  if (a.relu) program.data(&Program::extra, a.output);
  // A map always writes `out`. Where only gradResidual is asked for, `out` is the same memory, written just before.
  program.data(&Program::out, a.grad_input || !a.grad_residual ? a.grad_input : a.grad_residual);
  program.data(&Program::grad_residual, a.grad_residual);
  program.per_channel(&Program::weight, a.weight);
  program.per_channel(&Program::grad_weight, a.grad_weight);
  program.per_channel(&Program::grad_bias, a.grad_bias);
  return program.build();
}

}  // namespace bn
