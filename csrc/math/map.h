// The element-wise formulas, and the per-channel coefficients they take.
//
// V is float, double, or a vector of either; Coefficients<V> come from ChannelCoefficients, which finalize
// computes in float64.
#pragma once

#include "math/inline.h"

namespace bn {

struct ChannelCoefficients {
  double mean = 0;
  double scale = 1;
  double shift = 0;   // normalize
  double offset = 0;  // backward
  double slope = 0;   // backward
};

// The same in the type the map computes in. A float64 mean is kept as a pair of floats, since x - mean must not
// lose what the mean has beyond float32: (x - mean_hi) is exact or nearly so where it matters, then mean_lo follows.
template <class V>
struct Coefficients {
  V mean_hi, mean_lo, scale, shift, offset, slope;
};

BN_INLINE Coefficients<float> coefficients_f32(const ChannelCoefficients& c) {
  const float mean_hi = static_cast<float>(c.mean);
  const float rest = static_cast<float>(c.mean - static_cast<double>(mean_hi));
  // An infinite mean has no rest: inf - inf would make every element NaN.
  const float mean_lo = mean_hi - mean_hi == 0.0f ? rest : 0.0f;
  return {mean_hi,
          mean_lo,
          static_cast<float>(c.scale),
          static_cast<float>(c.shift),
          static_cast<float>(c.offset),
          static_cast<float>(c.slope)};
}

BN_INLINE Coefficients<double> coefficients_f64(const ChannelCoefficients& c) {
  return {c.mean, 0.0, c.scale, c.shift, c.offset, c.slope};
}

// Do the coefficients lose nothing but a rounding in float32? Where they do (a scale that over- or underflows, a
// mean near the largest float), the channel is mapped in float64.
BN_INLINE bool fits_f32(double x) {
  const double magnitude = x < 0 ? -x : x;
  return magnitude == 0.0 || (magnitude >= 0x1p-100 && magnitude <= 0x1p100) ||
         !(magnitude <= 0x1.fffffffffffffp1023);
}
BN_INLINE bool fits_f32(const ChannelCoefficients& c) {
  return fits_f32(c.mean) && fits_f32(c.scale) && fits_f32(c.shift) && fits_f32(c.offset) &&
         fits_f32(c.slope);
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
