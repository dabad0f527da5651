#include "bn_api/sync_batch_norm_gather_stats.h"

#include "core/checker.h"
#include "core/program_builder.h"

namespace bn {
namespace {

struct Arguments {
  Param total_sum, total_square_sum, sample_count, mean, variance;
  double momentum, eps;
  Param batch_mean, batch_invstd;
};

Program plan(const Call& call, const Arguments& a) {
  const Checker check(call);
  check.required(
      {a.total_sum, a.total_square_sum, a.sample_count, a.mean, a.variance, a.batch_mean, a.batch_invstd});
  check.views(
      {a.total_sum, a.total_square_sum, a.sample_count, a.mean, a.variance, a.batch_mean, a.batch_invstd});
  check.dtypes(kFloatTypes, {a.total_sum, a.total_square_sum});
  check.dtypes(kFloatTypesOrInt32, {a.sample_count});
  check.dtypes(kFloatTypes, {a.mean, a.variance, a.batch_mean, a.batch_invstd});
  check.same_dtype(a.total_sum, {a.total_square_sum, a.mean, a.variance});
  check.same_dtype(a.batch_mean, {a.batch_invstd});
  check.labels(kPublicLabels, {a.total_sum, a.total_square_sum, a.sample_count, a.mean, a.variance});
  check.rank(2, 2, {a.total_sum, a.total_square_sum});
  check.rank(1, 1, {a.sample_count, a.mean, a.variance, a.batch_mean, a.batch_invstd});
  check.same_shape(a.total_sum, {a.total_square_sum});
  check.same_extent(a.total_sum, 0, 0, {a.sample_count});
  const Channels channels(a.total_sum, 1);
  check.per_channel(channels, {a.mean, a.variance, a.batch_mean, a.batch_invstd});
  check.axis_not_empty(a.total_sum, 0);
  check.written_once({a.mean, a.variance, a.batch_mean, a.batch_invstd});
  if (channels.count == 0) return Program();

  ProgramBuilder program(channels);
  program->finalize = Finalize::kSyncGatherStats;
  program->momentum = a.momentum;
  program->eps = a.eps;
  program.tensor(&Program::rank_a, a.total_sum);
  program.tensor(&Program::rank_b, a.total_square_sum);
  program.tensor(&Program::counts, a.sample_count);
  program.per_channel(&Program::running_mean, a.mean);
  program.per_channel(&Program::running_var, a.variance);
  program.per_channel(&Program::mean_out, a.batch_mean);
  program.per_channel(&Program::invstd_out, a.batch_invstd);
  return program.build();
}

}  // namespace
}  // namespace bn

bnapiStatus bnapiSyncBatchNormGatherStatsGetWorkspaceSize(
    const bnapiTensor* totalSum, const bnapiTensor* totalSquareSum, const bnapiTensor* sampleCount,
    bnapiTensor* mean, bnapiTensor* variance, float momentum, float eps, bnapiTensor* batchMean,
    bnapiTensor* batchInvstd, uint64_t* workspaceSize, bnapiOpExecutor** executor) {
  return bn::phase_one(bn::Op::kSyncBatchNormGatherStats, workspaceSize, executor, [&](bn::Call& call) {
    bn::Arguments a;
    a.total_sum = call.input("totalSum", totalSum);
    a.total_square_sum = call.input("totalSquareSum", totalSquareSum);
    a.sample_count = call.input("sampleCount", sampleCount);
    a.mean = call.input("mean", mean);
    a.variance = call.input("variance", variance);
    a.momentum = momentum;
    a.eps = eps;
    a.batch_mean = call.output("batchMean", batchMean);
    a.batch_invstd = call.output("batchInvstd", batchInvstd);
    return bn::plan(call, a);
  });
}

bnapiStatus bnapiSyncBatchNormGatherStats(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                          bnapiStream stream) {
  return bn::phase_two(bn::Op::kSyncBatchNormGatherStats, workspace, workspaceSize, executor, stream);
}
