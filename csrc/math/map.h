// The element-wise formulas, and the per-channel coefficients they take.
//
// V is float, double, or a vector of either; Coefficients<V> come from ChannelCoefficients, which finalize
// computes in float64.
#pragma once

#include "math/inline.h"

namespace bn {

// In float64, as finalize leaves them; V is double, or a vector of doubles for as many channels.
template <class V>
struct CoefficientsOf {
  V mean{};
  V scale{};
  V shift{};   // normalize
  V offset{};  // backward
  V slope{};   // backward
};
using ChannelCoefficients = CoefficientsOf<double>;

// The same in the type the map computes in. A float64 mean is kept as a pair of floats, since x - mean must not
// lose what the mean has beyond float32: (x - mean_hi) is exact or nearly so where it matters, then mean_lo follows.
template <class V>
struct Coefficients {
  V mean_hi, mean_lo, scale, shift, offset, slope;
};

struct NarrowOne {
  static BN_INLINE float narrow(double x) { return static_cast<float>(x); }
  static BN_INLINE double widen(float x) { return static_cast<double>(x); }
};

// Narrow converts between V and float, or a vector of as many floats, by narrow() and widen().
template <class Narrow = NarrowOne, class V>
BN_INLINE auto coefficients_f32(const CoefficientsOf<V>& c)
    -> Coefficients<decltype(Narrow::narrow(c.mean))> {
  using F = decltype(Narrow::narrow(c.mean));
  const F mean_hi = Narrow::narrow(c.mean);
  const F rest = Narrow::narrow(c.mean - Narrow::widen(mean_hi));
  // An infinite mean has no rest: inf - inf would make every element NaN.
  const F mean_lo = mean_hi - mean_hi == 0.0f ? rest : F{};
  return {mean_hi,
          mean_lo,
          Narrow::narrow(c.scale),
          Narrow::narrow(c.shift),
          Narrow::narrow(c.offset),
          Narrow::narrow(c.slope)};
}

template <class V>
BN_INLINE Coefficients<V> coefficients_f64(const CoefficientsOf<V>& c) {
  return {c.mean, V{}, c.scale, c.shift, c.offset, c.slope};
}

// Do the coefficients lose nothing but a rounding in float32? Where they do (a scale that over- or underflows, a
// mean near the largest float), the channel is mapped in float64. True or not 0 (a lane of a vector) where they fit.
template <class V>
BN_INLINE auto fits_f32(V x) {
  const V magnitude = x < 0.0 ? -x : x;
  return (magnitude == 0.0) | ((magnitude >= 0x1p-100) & (magnitude <= 0x1p100)) |
         !(magnitude <= 0x1.fffffffffffffp1023);
}
template <class V>
BN_INLINE auto fits_f32(const CoefficientsOf<V>& c) {
  return fits_f32(c.mean) & fits_f32(c.scale) & fits_f32(c.shift) & fits_f32(c.offset) & fits_f32(c.slope);
}

template <class V>
BN_INLINE V normalize(V x, const Coefficients<V>& c) {
  return ((x - c.mean_hi) - c.mean_lo) * c.scale + c.shift;
}

// dx = (dy - sum_dy / n - (x - mean) * invstd^2 * sum_dy_xmu / n) * weight * invstd, with
// offset = sum_dy / n, slope = invstd^2 * sum_dy_xmu / n, scale = weight * invstd.
template <class V>
BN_INLINE V backward(V dy, V x, const Coefficients<V>& c) {
  return (dy - c.offset - ((x - c.mean_hi) - c.mean_lo) * c.slope) * c.scale;
}

}  // namespace bn
