// Mean and variance in one pass over the data, without the cancellation of E[x^2] - E[x]^2.
//
// Data is taken in tiles. Within a tile, deviations from the tile's first element are summed (a constant tile
// then has variance exactly 0, and mean exactly that constant); tiles are merged with the formula of
// Chan, Golub and LeVeque (1979), "Updating formulae and a pairwise algorithm for computing sample variances".
#pragma once

#include "math/sum.h"

namespace bn {

// Sums of deviations from a fixed shift. Sum as in dy_dot_xmu.h.
template <class Sum>
struct ShiftedSums {
  Sum deviation{};
  Sum square{};
};

template <class Sum, class V>
BN_INLINE void add(ShiftedSums<Sum>& sums, V x, V shift) {
  const V deviation = x - shift;
  sums.deviation += deviation;
  sums.square += deviation * deviation;
}

// The shift for a tile whose first element is given: that element, unless it is infinite or NaN, when subtracting
// it would hide what the tile holds.
template <class V>
BN_INLINE V tile_shift(V first) {
  return first - first == 0.0 ? first : V{};
}

// Count, mean and sum of squared deviations from the mean. A default-constructed one is the empty set.
// V is double, or a vector of doubles: channels of equal count.
template <class V>
struct MomentsOf {
  double count = 0;
  V mean{};
  V m2{};
};
using Moments = MomentsOf<double>;

template <class V>
BN_INLINE MomentsOf<V> moments_of_tile(double count, V shift, V deviation, V square) {
  if (count == 0) return {};
  const V offset = deviation / count;
  const V m2 = square - deviation * offset;
  return {count, shift + offset, m2 < 0.0 ? V{} : m2};  // below 0 only by rounding; NaN stays
}

template <class V>
BN_INLINE MomentsOf<V> merge(const MomentsOf<V>& a, const MomentsOf<V>& b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const double count = a.count + b.count;
  const double share = b.count / count;
  const V delta = b.mean - a.mean;
  // Equal means stay exactly as they are. An infinite one stays too, whichever side it is on; both signs make NaN.
  const V mean = delta - delta == 0.0 ? a.mean + delta * share : a.mean + b.mean;
  return {count, mean, a.m2 + b.m2 + delta * delta * (a.count * share)};
}

template <class V>
BN_INLINE V biased_variance(const MomentsOf<V>& moments) {
  return moments.m2 / moments.count;
}

}  // namespace bn
