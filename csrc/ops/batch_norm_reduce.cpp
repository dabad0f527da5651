#include "bn_api/batch_norm_reduce.h"

#include "core/checker.h"
#include "core/program_builder.h"

namespace bn {
namespace {

Program plan(const Call& call, const Param& x, const Param& sum, const Param& square_sum) {
  const Checker check(call);
  check.required({x, sum, square_sum});
  check.views({x, sum, square_sum});
  if (x->empty() || sum->empty() || square_sum->empty()) {
    if (!sum->empty()) check.dtypes(kFloat32Only, {sum});
    if (!square_sum->empty()) check.dtypes(kFloat32Only, {square_sum});
    return FillProgram(call).fill(sum, 0).fill(square_sum, 0).build();
  }
  check.dtypes(kFloatTypes, {x});
  check.dtypes(kFloat32Only, {sum, square_sum});
  check.labels(LabelSet{bits_of({BNAPI_FORMAT_NCHW, BNAPI_FORMAT_NHWC})}, {x});
  check.labels(LabelSet{bits_of({BNAPI_FORMAT_ND})}, {sum, square_sum});
  check.rank(4, 4, {x});
  check.rank(1, 1, {sum, square_sum});
  const Channels channels(x, channel_axis(x));
  check.per_channel(channels, {sum, square_sum});
  check.written_once({sum, square_sum});

  ProgramBuilder program(channels);
  program->reduce = Reduce::kSums;
  program->finalize = Finalize::kSums;
  program.data(&Program::x, x);
  program.per_channel(&Program::sum, sum);
  program.per_channel(&Program::square_sum, square_sum);
  return program.build();
}

}  // namespace
}  // namespace bn

bnapiStatus bnapiBatchNormReduceGetWorkspaceSize(const bnapiTensor* x, bnapiTensor* sum,
                                                 bnapiTensor* squareSum, uint64_t* workspaceSize,
                                                 bnapiOpExecutor** executor) {
  return bn::phase_one(bn::Op::kBatchNormReduce, workspaceSize, executor, [&](bn::Call& call) {
    const bn::Param data = call.input("x", x);
    const bn::Param sum_out = call.output("sum", sum);
    const bn::Param square_sum_out = call.output("squareSum", squareSum);
    return bn::plan(call, data, sum_out, square_sum_out);
  });
}

bnapiStatus bnapiBatchNormReduce(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                 bnapiStream stream) {
  return bn::phase_two(bn::Op::kBatchNormReduce, workspace, workspaceSize, executor, stream);
}
