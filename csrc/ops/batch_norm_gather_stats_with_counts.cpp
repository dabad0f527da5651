#include "bn_api/batch_norm_gather_stats_with_counts.h"

#include <limits>

#include "core/checker.h"
#include "core/program_builder.h"

namespace bn {
namespace {

struct Arguments {
  Param input, mean, invstd, running_mean, running_var;
  double momentum, eps;
  Param counts, mean_all, invstd_all;
};

Program plan(const Call& call, const Arguments& a) {
  const Checker check(call);
  check.required({a.input, a.mean, a.invstd, a.counts, a.mean_all, a.invstd_all});
  check.views({a.input, a.mean, a.invstd, a.running_mean, a.running_var, a.counts, a.mean_all, a.invstd_all});
  check.dtypes(kFloatTypes, {a.input, a.mean, a.invstd, a.running_mean, a.running_var, a.counts, a.mean_all,
                             a.invstd_all});
  check.labels(kPublicLabels, {a.input, a.mean, a.invstd, a.counts});
  check.rank(2, kMaxRank, {a.input});
  check.rank(2, 2, {a.mean, a.invstd});
  check.same_extent(a.mean, 0, 0, {a.invstd, a.counts});
  check.same_extent(a.input, 1, 1, {a.mean, a.invstd});
  const Channels channels(a.input, 1);
  check.per_channel(channels, {a.running_mean, a.running_var});
  check.rank(1, 1, {a.counts});
  check.per_channel(channels, {a.mean_all, a.invstd_all});
  check.written_once({a.running_mean, a.running_var, a.mean_all, a.invstd_all});
  if (channels.count == 0) return Program();
  if (a.counts->empty()) {
    return FillProgram(call)
        .fill(a.mean_all, 0)
        .fill(a.invstd_all, std::numeric_limits<double>::quiet_NaN())
        .build();
  }

  ProgramBuilder program(channels);
  program->finalize = Finalize::kGatherStatsWithCounts;
  program->momentum = a.momentum;
  program->eps = a.eps;
  program.tensor(&Program::rank_a, a.mean);
  program.tensor(&Program::rank_b, a.invstd);
  program.tensor(&Program::counts, a.counts);
  program.per_channel(&Program::running_mean, a.running_mean);
  program.per_channel(&Program::running_var, a.running_var);
  program.per_channel(&Program::mean_out, a.mean_all);
  program.per_channel(&Program::invstd_out, a.invstd_all);
  return program.build();
}

}  // namespace
}  // namespace bn

bnapiStatus bnapiBatchNormGatherStatsWithCountsGetWorkspaceSize(
    const bnapiTensor* input, const bnapiTensor* mean, const bnapiTensor* invstd, bnapiTensor* runningMean,
    bnapiTensor* runningVar, double momentum, double eps, const bnapiTensor* counts, bnapiTensor* meanAll,
    bnapiTensor* invstdAll, uint64_t* workspaceSize, bnapiOpExecutor** executor) {
  return bn::phase_one(bn::Op::kBatchNormGatherStatsWithCounts, workspaceSize, executor, [&](bn::Call& call) {
    bn::Arguments a;
    a.input = call.input("input", input);
    a.mean = call.input("mean", mean);
    a.invstd = call.input("invstd", invstd);
    a.running_mean = call.input("runningMean", runningMean);
    a.running_var = call.input("runningVar", runningVar);
    a.momentum = momentum;
    a.eps = eps;
    a.counts = call.input("counts", counts);
    a.mean_all = call.output("meanAll", meanAll);
    a.invstd_all = call.output("invstdAll", invstdAll);
    return bn::plan(call, a);
  });
}

bnapiStatus bnapiBatchNormGatherStatsWithCounts(void* workspace, uint64_t workspaceSize,
                                                bnapiOpExecutor* executor, bnapiStream stream) {
  return bn::phase_two(bn::Op::kBatchNormGatherStatsWithCounts, workspace, workspaceSize, executor, stream);
}
