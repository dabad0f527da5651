// QuantizedBatchNorm, per element, in float64 with one rounding: half away from zero, after the zero point is added.
#pragma once

#include "math/dtype.h"
#include "math/map.h"

namespace bn {

struct Quantization {
  double input_scale, input_zero_point, output_scale, output_zero_point;
};

template <class V>
BN_INLINE V dequantize_normalize_requantize(V q, const Coefficients<V>& c, const Quantization& z) {
  const V x = (q - z.input_zero_point) * z.input_scale;
  return normalize(x, c) / z.output_scale + z.output_zero_point;
}
BN_INLINE double dequantize_normalize_requantize(double q, const ChannelCoefficients& c,
                                                 const Quantization& z) {
  return dequantize_normalize_requantize(q, coefficients_f64(c), z);
}

// Nearest integer, ties away from zero, clamped to [low, high]; NaN gives 0.
BN_INLINE int64_t round_and_saturate(double t, int64_t low, int64_t high) {
  if (t != t) return 0;
  if (t <= static_cast<double>(low)) return low;
  if (t >= static_cast<double>(high)) return high;
  const int64_t whole = static_cast<int64_t>(t);  // towards zero
  const double rest = t - static_cast<double>(whole);
  const int64_t rounded = rest >= 0.5 ? whole + 1 : (rest <= -0.5 ? whole - 1 : whole);
  return rounded < low ? low : (rounded > high ? high : rounded);
}

BN_INLINE void store_quantized(void* address, DType dtype, double t) {
  switch (dtype) {
    case DType::kInt8:
      *static_cast<int8_t*>(address) = static_cast<int8_t>(round_and_saturate(t, -128, 127));
      break;
    case DType::kUInt8:
      *static_cast<uint8_t*>(address) = static_cast<uint8_t>(round_and_saturate(t, 0, 255));
      break;
    case DType::kInt32:
      *static_cast<int32_t*>(address) =
          static_cast<int32_t>(round_and_saturate(t, -2147483648LL, 2147483647LL));
      break;
    default:
      break;
  }
}

}  // namespace bn
