// The finalize stage: what becomes of one channel's accumulators and parameters. The formulas of every operator,
// once, for host and device; contract and derivation are in the operators' headers (include/bn_api/).
//
// Rules: everything in float64; every output rounded once, from the unrounded value; all parameters are read
// before anything is written, so that running statistics may share memory with weight or bias.
//
// The formulas are written for a `Channels`, which says what they are computed on and reaches per-channel values: one
// channel's (OneChannel below), or, on the CPU, a vector of neighbouring channels' (backends/cpu/channels.h). It has
//     Value                      double, or a vector of doubles
//     load(arg, otherwise)       the channels' values; `otherwise` where there is no such tensor
//     load(tensor, row)          of a [K, C] tensor
//     store(arg, value)          with one rounding; nothing for an output that is not wanted
//     square_root(value)
#pragma once

#include <cmath>

#include "core/program.h"
#include "math/dy_dot_xmu.h"
#include "math/map.h"
#include "math/moments.h"
#include "math/sums.h"

namespace bn {

// What the reduce stage found for one channel, or for each of several of as many elements; the member that the
// program's Reduce names is set.
template <class V>
struct TotalsOf {
  MomentsOf<V> moments;
  DyDotXmu<V> dy_dot_xmu;
  RawSums<V> sums;
};
using Totals = TotalsOf<double>;

struct OneChannel {
  using Value = double;
  int64_t channel;

  BN_INLINE double load(const ChannelArg& arg, double otherwise = 0.0) const {
    return bn::load(arg, channel, otherwise);
  }
  BN_INLINE double load(const TensorArg& arg, int64_t row) const { return bn::load(arg, row, channel); }
  BN_INLINE void store(const ChannelArg& arg, double value) const { bn::store(arg, channel, value); }
  static BN_INLINE double square_root(double x) { return sqrt(x); }
};

template <class Channels, class V>
BN_INLINE V inverse_std(const Channels&, V variance, double eps) {
  return 1.0 / Channels::square_root(variance + eps);
}

BN_INLINE double quiet_nan() {
  return bit_cast<double>(kNan64);
}

// running = (1 - m) * running + m * batch
template <class V>
BN_INLINE V blend(V running, V batch, double momentum) {
  return (1.0 - momentum) * running + momentum * batch;
}

// BatchNormStats.
template <class Channels, class V = typename Channels::Value>
BN_INLINE void finalize_stats(const Program& p, const Channels& at, const MomentsOf<V>& moments) {
  if (moments.count == 0) {
    at.store(p.mean_out, V{});
    at.store(p.invstd_out, V{} + quiet_nan());
    return;
  }
  at.store(p.mean_out, moments.mean);
  at.store(p.invstd_out, inverse_std(at, biased_variance(moments), p.eps));
}

// BatchNormReduce.
template <class Channels, class V = typename Channels::Value>
BN_INLINE void finalize_sums(const Program& p, const Channels& at, const RawSums<V>& sums) {
  at.store(p.sum, sums.value);
  at.store(p.square_sum, sums.square);
}

// BatchNormReduceBackward.
template <class Channels, class V = typename Channels::Value>
BN_INLINE void finalize_reduce_backward(const Program& p, const Channels& at, const DyDotXmu<V>& totals) {
  const V invstd = at.load(p.invstd);
  at.store(p.sum_dy, totals.dy);
  at.store(p.sum_dy_xmu, totals.dy_xmu);
  at.store(p.grad_weight, totals.dy_xmu * invstd);
  at.store(p.grad_bias, totals.dy);
}

// BatchNorm in training: saved statistics, running statistics, coefficients of normalize.
template <class Channels, class V = typename Channels::Value>
BN_INLINE CoefficientsOf<V> finalize_train(const Program& p, const Channels& at,
                                           const MomentsOf<V>& moments) {
  const V weight = at.load(p.weight, 1.0);
  const V bias = at.load(p.bias);
  const V running_mean = at.load(p.running_mean);
  const V running_var = at.load(p.running_var);
  const V variance = biased_variance(moments);
  const V invstd = inverse_std(at, variance, p.eps);
  // One value per channel: 0 * (1 / 0), NaN, as the unbiased estimate of nothing.
  const V unbiased = variance * (moments.count / (moments.count - 1.0));
  at.store(p.mean_out, moments.mean);
  at.store(p.invstd_out, invstd);
  at.store(p.running_mean, blend(running_mean, moments.mean, p.momentum));
  at.store(p.running_var, blend(running_var, unbiased, p.momentum));
  return {moments.mean, weight * invstd, bias, V{}, V{}};
}

// BatchNorm in inference.
template <class Channels, class V = typename Channels::Value>
BN_INLINE CoefficientsOf<V> finalize_inference(const Program& p, const Channels& at) {
  const V invstd = inverse_std(at, at.load(p.running_var, 1.0), p.eps);
  return {at.load(p.running_mean), at.load(p.weight, 1.0) * invstd, at.load(p.bias), V{}, V{}};
}

// BatchNormElemt: statistics as given.
template <class Channels, class V = typename Channels::Value>
BN_INLINE CoefficientsOf<V> finalize_elemt(const Program& p, const Channels& at) {
  return {at.load(p.mean), at.load(p.weight, 1.0) * at.load(p.invstd), at.load(p.bias), V{}, V{}};
}

// The mean that the reduction of kDyDotXmu subtracts: the saved one in training, the running one in inference.
template <class Channels, class V = typename Channels::Value>
BN_INLINE V reduction_mean(const Program& p, const Channels& at) {
  return at.load(p.finalize == Finalize::kBackwardInference ? p.running_mean : p.mean);
}
BN_INLINE double reduction_mean(const Program& p, int64_t channel) {
  return reduction_mean(p, OneChannel{channel});
}

// BatchNormBackward in training. saveInvstd is an inverse standard deviation; eps plays no part.
template <class Channels, class V = typename Channels::Value>
BN_INLINE CoefficientsOf<V> finalize_backward_train(const Program& p, const Channels& at,
                                                    const DyDotXmu<V>& totals) {
  const V mean = at.load(p.mean);
  const V invstd = at.load(p.invstd, 1.0);
  const V weight = at.load(p.weight, 1.0);
  const double n = static_cast<double>(p.count);
  at.store(p.grad_weight, totals.dy_xmu * invstd);
  at.store(p.grad_bias, totals.dy);
  return {mean, weight * invstd, V{}, totals.dy / n, invstd * invstd * (totals.dy_xmu / n)};
}

// BatchNormBackward in inference: the statistics are constants, so dx = dy * weight * invstd.
template <class Channels, class V = typename Channels::Value>
BN_INLINE CoefficientsOf<V> finalize_backward_inference(const Program& p, const Channels& at,
                                                        const DyDotXmu<V>& totals) {
  const V invstd = inverse_std(at, at.load(p.running_var, 1.0), p.eps);
  const V weight = at.load(p.weight, 1.0);
  at.store(p.grad_weight, totals.dy_xmu * invstd);
  at.store(p.grad_bias, totals.dy);
  return {V{}, weight * invstd, V{}, V{}, V{}};
}

// BatchNormElemtBackward. `count` is the sum of the counter tensor (counter_total).
template <class Channels, class V = typename Channels::Value>
BN_INLINE CoefficientsOf<V> finalize_elemt_backward(const Program& p, const Channels& at, double count) {
  const V invstd = at.load(p.invstd);
  return {at.load(p.mean), at.load(p.weight, 1.0) * invstd, V{}, at.load(p.sum_dy_in) / count,
          invstd * invstd * (at.load(p.sum_dy_xmu_in) / count)};
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
template <class Channels, class V = typename Channels::Value>
BN_INLINE void finalize_gather_stats_with_counts(const Program& p, const Channels& at) {
  const int64_t ranks = p.rank_a.extents[0];
  double n = 0;
  V weighted{};
  for (int64_t k = 0; k < ranks; ++k) {
    const double count = load(p.counts, k, 0);
    if (count == 0) continue;
    n += count;
    weighted += at.load(p.rank_a, k) * count;
  }
  if (n == 0) {
    at.store(p.mean_out, V{});
    at.store(p.invstd_out, V{} + quiet_nan());
    return;
  }
  const V mean = weighted / n;
  V squares{};
  for (int64_t k = 0; k < ranks; ++k) {
    const double count = load(p.counts, k, 0);
    if (count == 0) continue;
    const V invstd = at.load(p.rank_b, k);
    const V delta = at.load(p.rank_a, k) - mean;
    squares += (1.0 / (invstd * invstd) - p.eps + delta * delta) * count;
  }
  const V running_mean = at.load(p.running_mean);
  const V running_var = at.load(p.running_var);
  at.store(p.mean_out, mean);
  at.store(p.invstd_out, inverse_std(at, squares / n, p.eps));
  at.store(p.running_mean, blend(running_mean, mean, p.momentum));
  at.store(p.running_var, blend(running_var, squares / (n - 1.0), p.momentum));
}

// SyncBatchNormGatherStats: the interface carries raw moments, so the variance is a difference; it is taken in
// float64, and one below 0 by rounding is 0.
template <class Channels, class V = typename Channels::Value>
BN_INLINE void finalize_sync_gather_stats(const Program& p, const Channels& at) {
  const int64_t ranks = p.rank_a.extents[0];
  V sum{};
  V square_sum{};
  double n = 0;
  for (int64_t k = 0; k < ranks; ++k) {
    sum += at.load(p.rank_a, k);
    square_sum += at.load(p.rank_b, k);
    n += trunc(load(p.counts, k, 0));
  }
  const V mean = sum / n;
  const V difference = square_sum / n - mean * mean;
  const V variance = difference < 0.0 ? V{} : difference;
  const V running_mean = at.load(p.running_mean);
  const V running_var = at.load(p.running_var);
  at.store(p.mean_out, mean);
  at.store(p.invstd_out, inverse_std(at, variance, p.eps));
  at.store(p.running_mean, blend(running_mean, mean, p.momentum));
  at.store(p.running_var, blend(running_var, variance * (n / (n - 1.0)), p.momentum));
}

// QuantizedBatchNorm: coefficients of normalize; math/quantize.h has the rest.
template <class Channels, class V = typename Channels::Value>
BN_INLINE CoefficientsOf<V> finalize_quantized(const Program& p, const Channels& at) {
  return {at.load(p.mean), at.load(p.weight, 1.0) * inverse_std(at, at.load(p.running_var), p.eps),
          at.load(p.bias), V{}, V{}};
}

// Writes the channels' outputs and returns the coefficients of the map stage. `count` is counter_total(p.counts)
// for kElemtBackward and unused otherwise.
template <class Channels, class V = typename Channels::Value>
BN_INLINE CoefficientsOf<V> finalize(const Program& p, const Channels& at, const TotalsOf<V>& totals,
                                     double count) {
  switch (p.finalize) {
    case Finalize::kStats:
      finalize_stats(p, at, totals.moments);
      return {};
    case Finalize::kSums:
      finalize_sums(p, at, totals.sums);
      return {};
    case Finalize::kReduceBackward:
      finalize_reduce_backward(p, at, totals.dy_dot_xmu);
      return {};
    case Finalize::kTrain:
      return finalize_train(p, at, totals.moments);
    case Finalize::kInference:
      return finalize_inference(p, at);
    case Finalize::kElemt:
      return finalize_elemt(p, at);
    case Finalize::kBackwardTrain:
      return finalize_backward_train(p, at, totals.dy_dot_xmu);
    case Finalize::kBackwardInference:
      return finalize_backward_inference(p, at, totals.dy_dot_xmu);
    case Finalize::kElemtBackward:
      return finalize_elemt_backward(p, at, count);
    case Finalize::kGatherStatsWithCounts:
      finalize_gather_stats_with_counts(p, at);
      return {};
    case Finalize::kSyncGatherStats:
      finalize_sync_gather_stats(p, at);
      return {};
    case Finalize::kQuantized:
      return finalize_quantized(p, at);
    case Finalize::kNone:
      return {};
  }
  return {};
}

BN_INLINE ChannelCoefficients finalize(const Program& p, int64_t channel, const Totals& totals,
                                       double count) {
  return finalize(p, OneChannel{channel}, totals, count);
}

}  // namespace bn
