// Written by csrc/ascend/generate.py; do not edit.
//
// The operators under the vendor's names: the neutral functions, called in the Ascend dialect.
// clang-format off
#include "aclnnop/aclnn_batch_norm.h"
#include "aclnnop/aclnn_batch_norm_backward.h"
#include "aclnnop/aclnn_fast_batch_norm_backward.h"
#include "aclnnop/aclnn_batch_norm_stats.h"
#include "aclnnop/aclnn_batch_norm_elemt.h"
#include "aclnnop/aclnn_batch_norm_gather_stats_with_counts.h"
#include "aclnnop/aclnn_batch_norm_backward_reduce.h"
#include "aclnnop/aclnn_batch_norm_elemt_backward.h"
#include "aclnnop/aclnn_sync_batch_norm_gather_stats.h"
#include "aclnnop/aclnn_batch_norm_reduce.h"
#include "aclnnop/aclnn_quantized_batch_norm.h"
#include "bn_api/batch_norm.h"
#include "bn_api/batch_norm_backward.h"
#include "bn_api/fast_batch_norm_backward.h"
#include "bn_api/batch_norm_stats.h"
#include "bn_api/batch_norm_elemt.h"
#include "bn_api/batch_norm_gather_stats_with_counts.h"
#include "bn_api/batch_norm_reduce_backward.h"
#include "bn_api/batch_norm_elemt_backward.h"
#include "bn_api/sync_batch_norm_gather_stats.h"
#include "bn_api/batch_norm_reduce.h"
#include "bn_api/quantized_batch_norm.h"
#include "ascend/forward.h"

extern "C" {

aclnnStatus aclnnBatchNormGetWorkspaceSize(
    const aclTensor* input, const aclTensor* weight, const aclTensor* bias, aclTensor* runningMean,
    aclTensor* runningVar, bool training, double momentum, double eps, aclTensor* output, aclTensor* saveMean,
    aclTensor* saveInvstd, uint64_t* workspaceSize, aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormGetWorkspaceSize(
      neutral(input), neutral(weight), neutral(bias), neutral(runningMean), neutral(runningVar), training,
      momentum, eps, neutral(output), neutral(saveMean), neutral(saveInvstd), workspaceSize,
      neutral(executor)));
}

aclnnStatus aclnnBatchNorm(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNorm(workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

aclnnStatus aclnnBatchNormBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* weight, const aclTensor* runningMean,
    const aclTensor* runningVar, const aclTensor* saveMean, const aclTensor* saveInvstd, bool training,
    double eps, const aclBoolArray* outputMask, aclTensor* gradInput, aclTensor* gradWeight,
    aclTensor* gradBias, uint64_t* workspaceSize, aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormBackwardGetWorkspaceSize(
      neutral(gradOut), neutral(input), neutral(weight), neutral(runningMean), neutral(runningVar),
      neutral(saveMean), neutral(saveInvstd), training, eps, neutral(outputMask), neutral(gradInput),
      neutral(gradWeight), neutral(gradBias), workspaceSize, neutral(executor)));
}

aclnnStatus aclnnBatchNormBackward(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormBackward(workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

aclnnStatus aclnnFastBatchNormBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* weight, const aclTensor* runningMean,
    const aclTensor* runningVar, const aclTensor* saveMean, const aclTensor* saveInvstd, bool training,
    double eps, const aclBoolArray* outputMask, int version, aclTensor* gradInput, aclTensor* gradWeight,
    aclTensor* gradBias, uint64_t* workspaceSize, aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiFastBatchNormBackwardGetWorkspaceSize(
      neutral(gradOut), neutral(input), neutral(weight), neutral(runningMean), neutral(runningVar),
      neutral(saveMean), neutral(saveInvstd), training, eps, neutral(outputMask), version, neutral(gradInput),
      neutral(gradWeight), neutral(gradBias), workspaceSize, neutral(executor)));
}

aclnnStatus aclnnFastBatchNormBackward(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiFastBatchNormBackward(
      workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

aclnnStatus aclnnBatchNormStatsGetWorkspaceSize(
    const aclTensor* input, double eps, aclTensor* mean, aclTensor* invstd, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormStatsGetWorkspaceSize(
      neutral(input), eps, neutral(mean), neutral(invstd), workspaceSize, neutral(executor)));
}

aclnnStatus aclnnBatchNormStats(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormStats(workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

aclnnStatus aclnnBatchNormElemtGetWorkspaceSize(
    const aclTensor* input, const aclTensor* weight, const aclTensor* bias, aclTensor* mean,
    aclTensor* invstd, double eps, aclTensor* output, uint64_t* workspaceSize, aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormElemtGetWorkspaceSize(
      neutral(input), neutral(weight), neutral(bias), neutral(mean), neutral(invstd), eps, neutral(output),
      workspaceSize, neutral(executor)));
}

aclnnStatus aclnnBatchNormElemt(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormElemt(workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

aclnnStatus aclnnBatchNormGatherStatsWithCountsGetWorkspaceSize(
    const aclTensor* input, const aclTensor* mean, const aclTensor* invstd, aclTensor* runningMean,
    aclTensor* runningVar, double momentum, double eps, const aclTensor* counts, aclTensor* meanAll,
    aclTensor* invstdAll, uint64_t* workspaceSize, aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormGatherStatsWithCountsGetWorkspaceSize(
      neutral(input), neutral(mean), neutral(invstd), neutral(runningMean), neutral(runningVar), momentum,
      eps, neutral(counts), neutral(meanAll), neutral(invstdAll), workspaceSize, neutral(executor)));
}

aclnnStatus aclnnBatchNormGatherStatsWithCounts(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormGatherStatsWithCounts(
      workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

aclnnStatus aclnnBatchNormReduceBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* mean, const aclTensor* invstd,
    const aclTensor* weight, bool inputG, bool weightG, bool biasG, aclTensor* sumDy, aclTensor* sumDyXmu,
    aclTensor* gradWeight, aclTensor* gradBias, uint64_t* workspaceSize, aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormReduceBackwardGetWorkspaceSize(
      neutral(gradOut), neutral(input), neutral(mean), neutral(invstd), neutral(weight), inputG, weightG,
      biasG, neutral(sumDy), neutral(sumDyXmu), neutral(gradWeight), neutral(gradBias), workspaceSize,
      neutral(executor)));
}

aclnnStatus aclnnBatchNormReduceBackward(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormReduceBackward(
      workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

aclnnStatus aclnnBatchNormElemtBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* mean, const aclTensor* invstd,
    const aclTensor* weight, const aclTensor* sumDy, const aclTensor* sumDyXmu, aclTensor* counter,
    aclTensor* gradInput, uint64_t* workspaceSize, aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormElemtBackwardGetWorkspaceSize(
      neutral(gradOut), neutral(input), neutral(mean), neutral(invstd), neutral(weight), neutral(sumDy),
      neutral(sumDyXmu), neutral(counter), neutral(gradInput), workspaceSize, neutral(executor)));
}

aclnnStatus aclnnBatchNormElemtBackward(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormElemtBackward(
      workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

aclnnStatus aclnnSyncBatchNormGatherStatsGetWorkspaceSize(
    const aclTensor* totalSum, const aclTensor* totalSquareSum, const aclTensor* sampleCount, aclTensor* mean,
    aclTensor* variance, float momentum, float eps, aclTensor* batchMean, aclTensor* batchInvstd,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiSyncBatchNormGatherStatsGetWorkspaceSize(
      neutral(totalSum), neutral(totalSquareSum), neutral(sampleCount), neutral(mean), neutral(variance),
      momentum, eps, neutral(batchMean), neutral(batchInvstd), workspaceSize, neutral(executor)));
}

aclnnStatus aclnnSyncBatchNormGatherStats(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiSyncBatchNormGatherStats(
      workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

aclnnStatus aclnnBatchNormReduceGetWorkspaceSize(
    const aclTensor* x, aclTensor* sum, aclTensor* squareSum, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormReduceGetWorkspaceSize(
      neutral(x), neutral(sum), neutral(squareSum), workspaceSize, neutral(executor)));
}

aclnnStatus aclnnBatchNormReduce(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiBatchNormReduce(workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

aclnnStatus aclnnQuantizedBatchNormGetWorkspaceSize(
    const aclTensor* input, const aclTensor* mean, const aclTensor* var, const aclScalar* inputScale,
    const aclScalar* inputZeroPoint, const aclScalar* outputScale, const aclScalar* outputZeroPoint,
    aclTensor* weight, aclTensor* bias, float epsilon, aclTensor* output, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  AscendCall call(__func__);
  return call.done(bnapiQuantizedBatchNormGetWorkspaceSize(
      neutral(input), neutral(mean), neutral(var), neutral(inputScale), neutral(inputZeroPoint),
      neutral(outputScale), neutral(outputZeroPoint), neutral(weight), neutral(bias), epsilon,
      neutral(output), workspaceSize, neutral(executor)));
}

aclnnStatus aclnnQuantizedBatchNorm(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiQuantizedBatchNorm(workspace, workspaceSize, neutral(executor), call.stream(stream)));
}

}  // extern "C"
