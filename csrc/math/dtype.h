// Element types, and the conversions between them: the one place where a half-precision bit pattern is made.
//
// Half-precision conversions are integer arithmetic on bit patterns, so that every CPU path and every GPU gives the
// same bits and subnormals are kept. Each type has one NaN.
#pragma once

#include <cstring>

#include "math/inline.h"

// Kernels on the emulated GPU of the tests have every access to memory checked (backends/cuda/device.h).
#if defined(BN_READABLE)
#define BN_DTYPE_SEES_HOOKS
#else
#define BN_READABLE(address, size_bytes) (address)
#define BN_WRITABLE(address, size_bytes) (address)
#endif

namespace bn {

// Values are those of bnapiDataType.
enum class DType : int32_t {
  kUndefined = -1,
  kFloat32 = 0,
  kFloat16 = 1,
  kInt8 = 2,
  kInt32 = 3,
  kUInt8 = 4,
  kFloat64 = 11,
  kBFloat16 = 27,
};

struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// Bytes of one element of the types that operators compute with; 0 for all others.
BN_INLINE int64_t dtype_size(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 8;
    case DType::kFloat32:
    case DType::kInt32:
      return 4;
    case DType::kFloat16:
    case DType::kBFloat16:
      return 2;
    case DType::kInt8:
    case DType::kUInt8:
      return 1;
    default:
      return 0;
  }
}

template <class To, class From>
BN_INLINE To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast between types of different size");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

inline constexpr uint64_t kNan64 = 0x7FF8000000000000u;
inline constexpr uint32_t kNan32 = 0x7FC00000u;
inline constexpr uint16_t kNanHalf = 0x7E00u;
inline constexpr uint16_t kNanBFloat16 = 0x7FC0u;

// ---- widening: exact ---------------------------------------------------------------------------------------

BN_INLINE float widen(float x) {
  return x;
}
BN_INLINE double widen(double x) {
  return x;
}

BN_INLINE float widen(BFloat16 x) {
  return bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}

BN_INLINE float widen(Half x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t magnitude = x.bits & 0x7FFFu;
  if (magnitude >= 0x7C00u) return bit_cast<float>(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13);
  if (magnitude >= 0x0400u) return bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  // Zero or subnormal: magnitude * 2^-24, exact in float32, and normal there.
  const float value = static_cast<float>(static_cast<int32_t>(magnitude)) * bit_cast<float>(0x33800000u);
  return bit_cast<float>(sign | bit_cast<uint32_t>(value));
}

// ---- narrowing: one rounding, to nearest even --------------------------------------------------------------

// Rounds a float64 to a binary format of `kFraction` fraction bits and smallest normal exponent `kMinExponent`,
// from the float64's bits directly: going through float32 would round twice.
template <int kFraction, int kMinExponent, int kMaxExponent>
BN_INLINE uint32_t round_bits(double x, uint32_t nan) {
  const uint64_t bits = bit_cast<uint64_t>(x);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
  const uint64_t fraction = bits & 0xFFFFFFFFFFFFFu;
  constexpr uint32_t kInf = static_cast<uint32_t>(kMaxExponent - kMinExponent + 2) << kFraction;
  constexpr int kSignShift = kFraction == 23 ? 31 : 15;
  if (exponent == 1024 && fraction != 0) return nan;
  uint32_t magnitude;
  if (exponent > kMaxExponent) {
    magnitude = kInf;
  } else if (exponent < kMinExponent - kFraction - 1) {
    magnitude = 0;
  } else {
    // The significand with its hidden bit (a float64 subnormal is far below and was handled as zero).
    const uint64_t significand = fraction | uint64_t{1} << 52;
    const int below = exponent < kMinExponent ? kMinExponent - exponent : 0;
    const int shift = 52 - kFraction + below;
    uint64_t kept = significand >> shift;
    const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
    const uint64_t half = uint64_t{1} << (shift - 1);
    if (rest > half || (rest == half && (kept & 1))) kept += 1;
    // For a normal result `kept` holds the hidden bit, which adds one to the biased exponent; a carry runs into
    // the exponent and, from the largest finite value, into infinity.
    const uint32_t biased = below == 0 ? static_cast<uint32_t>(exponent - kMinExponent) << kFraction : 0;
    magnitude = biased + static_cast<uint32_t>(kept);
  }
  return sign << kSignShift | magnitude;
}

template <class To>
BN_INLINE To narrow(double x);

template <>
BN_INLINE double narrow<double>(double x) {
  return x != x ? bit_cast<double>(kNan64) : x;
}
template <>
BN_INLINE float narrow<float>(double x) {
  // The processor's own conversion: CPU kernels set the rounding mode and keep subnormals, GPUs always do.
  return x != x ? bit_cast<float>(kNan32) : static_cast<float>(x);
}
template <>
BN_INLINE Half narrow<Half>(double x) {
  return Half{static_cast<uint16_t>(round_bits<10, -14, 15>(x, kNanHalf))};
}
template <>
BN_INLINE BFloat16 narrow<BFloat16>(double x) {
  return BFloat16{static_cast<uint16_t>(round_bits<7, -126, 127>(x, kNanBFloat16))};
}

// ---- loads and stores by run-time type: for per-channel values, where speed does not matter ------------------

BN_INLINE double load_as_double(const void* address, DType dtype) {
  address = BN_READABLE(address, static_cast<size_t>(dtype_size(dtype)));
  switch (dtype) {
    case DType::kFloat64:
      return *static_cast<const double*>(address);
    case DType::kFloat32:
      return static_cast<double>(*static_cast<const float*>(address));
    case DType::kFloat16:
      return static_cast<double>(widen(*static_cast<const Half*>(address)));
    case DType::kBFloat16:
      return static_cast<double>(widen(*static_cast<const BFloat16*>(address)));
    case DType::kInt32:
      return static_cast<double>(*static_cast<const int32_t*>(address));
    case DType::kInt8:
      return static_cast<double>(*static_cast<const int8_t*>(address));
    case DType::kUInt8:
      return static_cast<double>(*static_cast<const uint8_t*>(address));
    default:
      return 0.0;
  }
}

// Stores a floating-point value with one rounding. (Integers are stored by math/quantize.h.)
BN_INLINE void store_from_double(void* address, DType dtype, double value) {
  address = BN_WRITABLE(address, static_cast<size_t>(dtype_size(dtype)));
  switch (dtype) {
    case DType::kFloat64:
      *static_cast<double*>(address) = narrow<double>(value);
      break;
    case DType::kFloat32:
      *static_cast<float*>(address) = narrow<float>(value);
      break;
    case DType::kFloat16:
      *static_cast<Half*>(address) = narrow<Half>(value);
      break;
    case DType::kBFloat16:
      *static_cast<BFloat16*>(address) = narrow<BFloat16>(value);
      break;
    default:
      break;
  }
}

}  // namespace bn
