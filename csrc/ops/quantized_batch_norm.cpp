#include "bn_api/quantized_batch_norm.h"

#include "core/checker.h"
#include "core/program_builder.h"

namespace bn {
namespace {

struct Arguments {
  Param input, mean, var;
  std::shared_ptr<const Scalar> input_scale, input_zero_point, output_scale, output_zero_point;
  Param weight, bias;
  double epsilon;
  Param output;
};

Program plan(const Call& call, const Arguments& a) {
  const Checker check(call);
  check.required({a.input, a.output, a.mean, a.var});
  check.scalar_given("inputScale", a.input_scale.get());
  check.scalar_given("inputZeroPoint", a.input_zero_point.get());
  check.scalar_given("outputScale", a.output_scale.get());
  check.scalar_given("outputZeroPoint", a.output_zero_point.get());
  check.views({a.input, a.mean, a.var, a.weight, a.bias, a.output});
  check.not_empty({a.input, a.mean, a.var, a.weight, a.bias});
  check.dtypes(kQuantizedTypes, {a.input, a.output});
  check.same_label(a.input, {a.output});
  check.labels(LabelSet{bits_of({BNAPI_FORMAT_NCHW, BNAPI_FORMAT_ND})}, {a.input});
  check.same_shape(a.input, {a.output});
  check.dtypes(kFloat32Only, {a.weight, a.bias, a.mean, a.var});
  check.rank(4, 4, {a.input});
  const Channels channels(a.input, 1);
  check.per_channel(channels, {a.weight, a.bias, a.mean, a.var});
  const double input_scale = check.scalar(kFloat32Only, "inputScale", *a.input_scale);
  const double input_zero_point = check.scalar(kInt32Only, "inputZeroPoint", *a.input_zero_point);
  const double output_scale = check.scalar(kFloat32Only, "outputScale", *a.output_scale);
  const double output_zero_point = check.scalar(kInt32Only, "outputZeroPoint", *a.output_zero_point);
  check.same_dtype(a.input, {a.output});
  check.written_once({a.output});

  ProgramBuilder program(channels);
  program->finalize = Finalize::kQuantized;
  program->map = Map::kQuantize;
  program->eps = a.epsilon;
  program->input_scale = input_scale;
  program->input_zero_point = static_cast<int32_t>(input_zero_point);
  program->output_scale = output_scale;
  program->output_zero_point = static_cast<int32_t>(output_zero_point);
  program.data(&Program::x, a.input);
  program.data(&Program::out, a.output);
  program.per_channel(&Program::mean, a.mean);
  program.per_channel(&Program::running_var, a.var);
  program.per_channel(&Program::weight, a.weight);
  program.per_channel(&Program::bias, a.bias);
  return program.build();
}

}  // namespace
}  // namespace bn

bnapiStatus bnapiQuantizedBatchNormGetWorkspaceSize(const bnapiTensor* input, const bnapiTensor* mean,
                                                    const bnapiTensor* var, const bnapiScalar* inputScale,
                                                    const bnapiScalar* inputZeroPoint,
                                                    const bnapiScalar* outputScale,
                                                    const bnapiScalar* outputZeroPoint, bnapiTensor* weight,
                                                    bnapiTensor* bias, float epsilon, bnapiTensor* output,
                                                    uint64_t* workspaceSize, bnapiOpExecutor** executor) {
  return bn::phase_one(bn::Op::kQuantizedBatchNorm, workspaceSize, executor, [&](bn::Call& call) {
    bn::Arguments a;
    a.input = call.input("input", input);
    a.mean = call.input("mean", mean);
    a.var = call.input("var", var);
    a.input_scale = call.scalar("inputScale", inputScale);
    a.input_zero_point = call.scalar("inputZeroPoint", inputZeroPoint);
    a.output_scale = call.scalar("outputScale", outputScale);
    a.output_zero_point = call.scalar("outputZeroPoint", outputZeroPoint);
    a.weight = call.input("weight", weight);
    a.bias = call.input("bias", bias);
    a.epsilon = epsilon;
    a.output = call.output("output", output);
    return bn::plan(call, a);
  });
}

bnapiStatus bnapiQuantizedBatchNorm(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                    bnapiStream stream) {
  return bn::phase_two(bn::Op::kQuantizedBatchNorm, workspace, workspaceSize, executor, stream);
}
