// The finalize stage: what becomes of one channel's accumulators and parameters. The formulas of every operator,
// once, for host and device; contract and derivation are in the operators' headers (include/bn_api/).
//
// Rules: everything in float64; every output rounded once, from the unrounded value; all parameters are read
// before anything is written, so that running statistics may share memory with weight or bias.
#pragma once

#include <cmath>

#include "core/program.h"
#include "math/dy_dot_xmu.h"
#include "math/map.h"
#include "math/moments.h"
#include "math/sums.h"

namespace bn {

// What the reduce stage found for one channel; the member that the program's Reduce names is set.
struct Totals {
  Moments moments;
  DyDotXmu<double> dy_dot_xmu;
  RawSums<double> sums;
};

BN_INLINE double inverse_std(double variance, double eps) {
  return 1.0 / sqrt(variance + eps);
}

BN_INLINE double quiet_nan() {
  return bit_cast<double>(kNan64);
}

// running = (1 - m) * running + m * batch
BN_INLINE double blend(double running, double batch, double momentum) {
  return (1.0 - momentum) * running + momentum * batch;
}

// BatchNormStats.
BN_INLINE void finalize_stats(const Program& p, int64_t c, const Moments& moments) {
  const bool empty = moments.count == 0;
  store(p.mean_out, c, empty ? 0.0 : moments.mean);
  store(p.invstd_out, c, empty ? quiet_nan() : inverse_std(biased_variance(moments), p.eps));
}

// BatchNormReduce.
BN_INLINE void finalize_sums(const Program& p, int64_t c, const RawSums<double>& sums) {
  store(p.sum, c, sums.value);
  store(p.square_sum, c, sums.square);
}

// BatchNormReduceBackward.
BN_INLINE void finalize_reduce_backward(const Program& p, int64_t c, const DyDotXmu<double>& totals) {
  const double invstd = load(p.invstd, c);
  store(p.sum_dy, c, totals.dy);
  store(p.sum_dy_xmu, c, totals.dy_xmu);
  store(p.grad_weight, c, totals.dy_xmu * invstd);
  store(p.grad_bias, c, totals.dy);
}

// BatchNorm in training: saved statistics, running statistics, coefficients of normalize.
BN_INLINE ChannelCoefficients finalize_train(const Program& p, int64_t c, const Moments& moments) {
  const double weight = load(p.weight, c, 1.0);
  const double bias = load(p.bias, c, 0.0);
  const double running_mean = load(p.running_mean, c);
  const double running_var = load(p.running_var, c);
  const double variance = biased_variance(moments);
  const double invstd = inverse_std(variance, p.eps);
  // One value per channel: 0 * (1 / 0), NaN, as the unbiased estimate of nothing.
  const double unbiased = variance * (moments.count / (moments.count - 1.0));
  store(p.mean_out, c, moments.mean);
  store(p.invstd_out, c, invstd);
  store(p.running_mean, c, blend(running_mean, moments.mean, p.momentum));
  store(p.running_var, c, blend(running_var, unbiased, p.momentum));
  return {moments.mean, weight * invstd, bias, 0, 0};
}

// BatchNorm in inference.
BN_INLINE ChannelCoefficients finalize_inference(const Program& p, int64_t c) {
  const double invstd = inverse_std(load(p.running_var, c, 1.0), p.eps);
  return {load(p.running_mean, c, 0.0), load(p.weight, c, 1.0) * invstd, load(p.bias, c, 0.0), 0, 0};
}

// BatchNormElemt: statistics as given.
BN_INLINE ChannelCoefficients finalize_elemt(const Program& p, int64_t c) {
  return {load(p.mean, c), load(p.weight, c, 1.0) * load(p.invstd, c), load(p.bias, c, 0.0), 0, 0};
}

// The mean that the reduction of kDyDotXmu subtracts: the saved one in training, the running one in inference.
BN_INLINE double reduction_mean(const Program& p, int64_t c) {
  return p.finalize == Finalize::kBackwardInference ? load(p.running_mean, c, 0.0) : load(p.mean, c, 0.0);
}

// BatchNormBackward in training. saveInvstd is an inverse standard deviation; eps plays no part.
BN_INLINE ChannelCoefficients finalize_backward_train(const Program& p, int64_t c,
                                                      const DyDotXmu<double>& totals) {
  const double mean = load(p.mean, c, 0.0);
  const double invstd = load(p.invstd, c, 1.0);
  const double weight = load(p.weight, c, 1.0);
  const double n = static_cast<double>(p.count);
  store(p.grad_weight, c, totals.dy_xmu * invstd);
  store(p.grad_bias, c, totals.dy);
  return {mean, weight * invstd, 0, totals.dy / n, invstd * invstd * (totals.dy_xmu / n)};
}

// BatchNormBackward in inference: the statistics are constants, so dx = dy * weight * invstd.
BN_INLINE ChannelCoefficients finalize_backward_inference(const Program& p, int64_t c,
                                                          const DyDotXmu<double>& totals) {
  const double invstd = inverse_std(load(p.running_var, c, 1.0), p.eps);
  const double weight = load(p.weight, c, 1.0);
  store(p.grad_weight, c, totals.dy_xmu * invstd);
  store(p.grad_bias, c, totals.dy);
  return {0, weight * invstd, 0, 0, 0};
}

// BatchNormElemtBackward. `count` is the sum of the counter tensor (counter_total).
BN_INLINE ChannelCoefficients finalize_elemt_backward(const Program& p, int64_t c, double count) {
  const double invstd = load(p.invstd, c);
  return {load(p.mean, c), load(p.weight, c, 1.0) * invstd, 0, load(p.sum_dy_in, c) / count,
          invstd * invstd * (load(p.sum_dy_xmu_in, c) / count)};
}

// Sum of all elements of the counter, whatever its shape. Integers are exact (below 2^53).
BN_INLINE double counter_total(const TensorArg& counter) {
  int64_t elements = 1;
  for (int d = 0; d < counter.rank; ++d)
    elements *= counter.extents[d];
  double sum = 0;
  for (int64_t i = 0; i < elements; ++i) {
    int64_t rest = i;
    int64_t index = 0;
    for (int d = counter.rank - 1; d >= 0; --d) {
      index += rest % counter.extents[d] * counter.strides[d];
      rest /= counter.extents[d];
    }
    sum += load_as_double(static_cast<const char*>(counter.data) + index * dtype_size(counter.dtype),
                          counter.dtype);
  }
  return sum;
}

// BatchNormGatherStatsWithCounts: merges the statistics of K ranks, centred. A rank that counted nothing
// contributes nothing, even if its statistics are NaN; if no rank counted anything, running values stay.
BN_INLINE void finalize_gather_stats_with_counts(const Program& p, int64_t c) {
  const int64_t ranks = p.rank_a.extents[0];
  double n = 0;
  double weighted = 0;
  for (int64_t k = 0; k < ranks; ++k) {
    const double count = load(p.counts, k, 0);
    if (count == 0) continue;
    n += count;
    weighted += load(p.rank_a, k, c) * count;
  }
  if (n == 0) {
    store(p.mean_out, c, 0.0);
    store(p.invstd_out, c, quiet_nan());
    return;
  }
  const double mean = weighted / n;
  double squares = 0;
  for (int64_t k = 0; k < ranks; ++k) {
    const double count = load(p.counts, k, 0);
    if (count == 0) continue;
    const double invstd = load(p.rank_b, k, c);
    const double delta = load(p.rank_a, k, c) - mean;
    squares += (1.0 / (invstd * invstd) - p.eps + delta * delta) * count;
  }
  const double running_mean = load(p.running_mean, c);
  const double running_var = load(p.running_var, c);
  store(p.mean_out, c, mean);
  store(p.invstd_out, c, inverse_std(squares / n, p.eps));
  store(p.running_mean, c, blend(running_mean, mean, p.momentum));
  store(p.running_var, c, blend(running_var, squares / (n - 1.0), p.momentum));
}

// SyncBatchNormGatherStats: the interface carries raw moments, so the variance is a difference; it is taken in
// float64, and one below 0 by rounding is 0.
BN_INLINE void finalize_sync_gather_stats(const Program& p, int64_t c) {
  const int64_t ranks = p.rank_a.extents[0];
  double sum = 0;
  double square_sum = 0;
  double n = 0;
  for (int64_t k = 0; k < ranks; ++k) {
    sum += load(p.rank_a, k, c);
    square_sum += load(p.rank_b, k, c);
    n += trunc(load(p.counts, k, 0));
  }
  const double mean = sum / n;
  const double difference = square_sum / n - mean * mean;
  const double variance = difference < 0 ? 0.0 : difference;
  const double running_mean = load(p.running_mean, c);
  const double running_var = load(p.running_var, c);
  store(p.mean_out, c, mean);
  store(p.invstd_out, c, inverse_std(variance, p.eps));
  store(p.running_mean, c, blend(running_mean, mean, p.momentum));
  store(p.running_var, c, blend(running_var, variance * (n / (n - 1.0)), p.momentum));
}

// QuantizedBatchNorm: coefficients of normalize; math/quantize.h has the rest.
BN_INLINE ChannelCoefficients finalize_quantized(const Program& p, int64_t c) {
  return {load(p.mean, c), load(p.weight, c, 1.0) * inverse_std(load(p.running_var, c), p.eps),
          load(p.bias, c, 0.0), 0, 0};
}

// Writes the channel's outputs and returns the coefficients of the map stage. `count` is counter_total(p.counts)
// for kElemtBackward and unused otherwise.
BN_INLINE ChannelCoefficients finalize(const Program& p, int64_t c, const Totals& totals, double count) {
  switch (p.finalize) {
    case Finalize::kStats:
      finalize_stats(p, c, totals.moments);
      return {};
    case Finalize::kSums:
      finalize_sums(p, c, totals.sums);
      return {};
    case Finalize::kReduceBackward:
      finalize_reduce_backward(p, c, totals.dy_dot_xmu);
      return {};
    case Finalize::kTrain:
      return finalize_train(p, c, totals.moments);
    case Finalize::kInference:
      return finalize_inference(p, c);
    case Finalize::kElemt:
      return finalize_elemt(p, c);
    case Finalize::kBackwardTrain:
      return finalize_backward_train(p, c, totals.dy_dot_xmu);
    case Finalize::kBackwardInference:
      return finalize_backward_inference(p, c, totals.dy_dot_xmu);
    case Finalize::kElemtBackward:
      return finalize_elemt_backward(p, c, count);
    case Finalize::kGatherStatsWithCounts:
      finalize_gather_stats_with_counts(p, c);
      return {};
    case Finalize::kSyncGatherStats:
      finalize_sync_gather_stats(p, c);
      return {};
    case Finalize::kQuantized:
      return finalize_quantized(p, c);
    case Finalize::kNone:
      return {};
  }
  return {};
}

}  // namespace bn
