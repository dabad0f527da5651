#include "bn_api/batch_norm_stats.h"

#include <limits>

#include "core/checker.h"
#include "core/program_builder.h"

namespace bn {
namespace {

Program plan(const Call& call, const Param& input, double eps, const Param& mean, const Param& invstd) {
  const Checker check(call);
  check.required({input, mean, invstd});
  check.views({input, mean, invstd});
  check.dtypes(kFloatTypes, {input});
  check.dtypes(kFloat32Only, {mean, invstd});
  check.labels(kPublicLabels, {input, mean, invstd});
  check.rank(2, kMaxRank, {input});
  check.rank(1, 1, {mean, invstd});
  check.axis_not_empty(input, 1);
  const Channels channels(input, 1);
  check.per_channel(channels, {mean, invstd});
  if (input->empty()) {
    return FillProgram(call).fill(mean, 0).fill(invstd, std::numeric_limits<double>::quiet_NaN()).build();
  }
  check.written_once({mean, invstd});

  ProgramBuilder program(channels);
  program->reduce = Reduce::kMoments;
  program->finalize = Finalize::kStats;
  program->eps = eps;
  program.data(&Program::x, input);
  program.per_channel(&Program::mean_out, mean);
  program.per_channel(&Program::invstd_out, invstd);
  return program.build();
}

}  // namespace
}  // namespace bn

bnapiStatus bnapiBatchNormStatsGetWorkspaceSize(const bnapiTensor* input, double eps, bnapiTensor* mean,
                                                bnapiTensor* invstd, uint64_t* workspaceSize,
                                                bnapiOpExecutor** executor) {
  return bn::phase_one(bn::Op::kBatchNormStats, workspaceSize, executor, [&](bn::Call& call) {
    const bn::Param x = call.input("input", input);
    const bn::Param mean_out = call.output("mean", mean);
    const bn::Param invstd_out = call.output("invstd", invstd);
    return bn::plan(call, x, eps, mean_out, invstd_out);
  });
}

bnapiStatus bnapiBatchNormStats(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                bnapiStream stream) {
  return bn::phase_two(bn::Op::kBatchNormStats, workspace, workspaceSize, executor, stream);
}
