// Vectors of the instruction set that this file is compiled for, on the compiler's vector extensions.
//
// Loads and stores convert: data of any element type comes in as float or double lanes, exactly, and goes out with
// one rounding, to nearest even, and the type's one NaN. All of it is the same arithmetic on every instruction set
// (F16C rounds as the integer code beside it does), so that every path gives the same bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "math/dtype.h"
#include "math/sum.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

// The namespace of the instruction set: its functions must not be merged with another set's by the linker.
#ifndef BN_ISA
#define BN_ISA baseline
#endif

namespace bn::cpu::BN_ISA {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

inline constexpr int kFloats = kVectorBytes / 4;   // float lanes of a vector
inline constexpr int kDoubles = kVectorBytes / 8;  // double lanes of a vector

template <class Elem, int kCount>
struct VectorOf {
  typedef Elem type __attribute__((vector_size(sizeof(Elem) * kCount)));
};
template <class Elem, int kCount>
using Vec = typename VectorOf<Elem, kCount>::type;

using VF = Vec<float, kFloats>;
using VD = Vec<double, kDoubles>;

template <class V>
BN_INLINE V load_raw(const void* address) {
  V v;
  memcpy(&v, address, sizeof(v));
  return v;
}

template <class V>
BN_INLINE void store_raw(void* address, V v) {
  memcpy(address, &v, sizeof(v));
}

BN_INLINE VF broadcast(float x) {
  return x - VF{};
}
BN_INLINE VD broadcast(double x) {
  return x - VD{};
}

// ---- conversions between vectors: by instruction where GCC 12 makes several of __builtin_convertvector ------------

BN_INLINE VD to_f64(Vec<float, kDoubles> x) {
#if defined(__AVX512F__)
  // (Here and below: the unmasked intrinsics read an undefined vector, which GCC 12 warns of.)
  return bit_cast<VD>(_mm512_maskz_cvtps_pd(0xFF, bit_cast<__m256>(x)));
#elif defined(__AVX2__)
  return bit_cast<VD>(_mm256_cvtps_pd(bit_cast<__m128>(x)));
#else
  return __builtin_convertvector(x, VD);
#endif
}

// With one rounding.
BN_INLINE Vec<float, kDoubles> to_f32(VD x) {
  using Floats = Vec<float, kDoubles>;
#if defined(__AVX512F__)
  return bit_cast<Floats>(_mm512_maskz_cvtpd_ps(0xFF, bit_cast<__m512d>(x)));
#elif defined(__AVX2__)
  return bit_cast<Floats>(_mm256_cvtpd_ps(bit_cast<__m256d>(x)));
#else
  return __builtin_convertvector(x, Floats);
#endif
}

BN_INLINE VD square_root(VD x) {
#if defined(__AVX512F__)
  return bit_cast<VD>(_mm512_maskz_sqrt_pd(0xFF, bit_cast<__m512d>(x)));
#elif defined(__AVX2__)
  return bit_cast<VD>(_mm256_sqrt_pd(bit_cast<__m256d>(x)));
#elif defined(__SSE2__)
  return bit_cast<VD>(_mm_sqrt_pd(bit_cast<__m128d>(x)));
#else
  for (int i = 0; i < kDoubles; ++i)
    x[i] = __builtin_sqrt(x[i]);
  return x;
#endif
}

template <int kCount>
BN_INLINE Vec<uint32_t, kCount> load_u16_as_u32(const void* p) {
#if defined(__AVX512F__)
  if constexpr (kCount == 16) {
    return bit_cast<Vec<uint32_t, 16>>(_mm512_maskz_cvtepu16_epi32(0xFFFF, load_raw<__m256i>(p)));
  }
#endif
#if defined(__AVX2__)
  if constexpr (kCount == 8) return bit_cast<Vec<uint32_t, 8>>(_mm256_cvtepu16_epi32(load_raw<__m128i>(p)));
  if constexpr (kCount == 4) {
    return bit_cast<Vec<uint32_t, 4>>(_mm_cvtepu16_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p))));
  }
#endif
  return __builtin_convertvector(load_raw<Vec<uint16_t, kCount>>(p), Vec<uint32_t, kCount>);
}

// The low halves of a vector's 32-bit lanes, whose high halves are 0.
BN_INLINE Vec<uint16_t, kFloats> low_halves(Vec<uint32_t, kFloats> x) {
#if defined(__AVX512F__)
  return bit_cast<Vec<uint16_t, 16>>(_mm512_maskz_cvtepi32_epi16(0xFFFF, bit_cast<__m512i>(x)));
#elif defined(__AVX2__)
  const __m256i v = bit_cast<__m256i>(x);
  const __m256i packed = _mm256_packus_epi32(v, v);
  return bit_cast<Vec<uint16_t, 8>>(_mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08)));
#else
  return __builtin_convertvector(x, Vec<uint16_t, kFloats>);
#endif
}

// ---- widening ------------------------------------------------------------------------------------------------

template <int kCount>
BN_INLINE Vec<float, kCount> load_f32(const float* p) {
  return load_raw<Vec<float, kCount>>(p);
}

template <int kCount>
BN_INLINE Vec<float, kCount> load_f32(const BFloat16* p) {
  return bit_cast<Vec<float, kCount>>(load_u16_as_u32<kCount>(p) << 16);
}

template <int kCount>
BN_INLINE Vec<float, kCount> load_f32(const Half* p) {
#if defined(__F16C__)
  if constexpr (kCount == 4) {
    return bit_cast<Vec<float, 4>>(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  } else if constexpr (kCount == 8) {
    return bit_cast<Vec<float, 8>>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
#if defined(__AVX512F__)
  else {
    return bit_cast<Vec<float, 16>>(
        _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
  }
#endif
#else
  using VI = Vec<uint32_t, kCount>;
  using V = Vec<float, kCount>;
  const VI bits = load_u16_as_u32<kCount>(p);
  const VI magnitude = bits & 0x7FFFu;
  // 2^112 moves the half's exponent bias to the float's: exact, also from a subnormal.
  const V scaled = bit_cast<V>(magnitude << 13) * bit_cast<float>(uint32_t{0x77800000u});
  const VI special = VI(magnitude >= 0x7C00u) & 0x7F800000u;
  return bit_cast<V>((bits & 0x8000u) << 16 | special | bit_cast<VI>(scaled));
#endif
}

// One vector of doubles from any element type.
template <class Elem>
BN_INLINE VD load_f64(const Elem* p) {
  return to_f64(load_f32<kDoubles>(p));
}
BN_INLINE VD load_f64(const double* p) {
  return load_raw<VD>(p);
}

// ---- narrowing -----------------------------------------------------------------------------------------------

#if defined(__AVX512F__)
// For each kind of value, four bits: 0 takes the first operand, 1 the second. The first two kinds are the NaNs.
inline constexpr int kFixNan = 0x11111100;
#endif

template <class V>
BN_INLINE V one_nan(V x);
template <>
BN_INLINE VF one_nan<VF>(VF x) {
#if defined(__AVX512F__)
  // One instruction for the two of a comparison and a choice: NaN keeps what was there, all else is replaced.
  const __m512 nan = _mm512_set1_ps(bit_cast<float>(kNan32));
  return bit_cast<VF>(_mm512_fixupimm_ps(nan, bit_cast<__m512>(x), _mm512_set1_epi32(kFixNan), 0));
#else
  return x == x ? x : broadcast(bit_cast<float>(kNan32));
#endif
}
template <>
BN_INLINE VD one_nan<VD>(VD x) {
#if defined(__AVX512F__)
  const __m512d nan = _mm512_set1_pd(bit_cast<double>(kNan64));
  return bit_cast<VD>(_mm512_fixupimm_pd(nan, bit_cast<__m512d>(x), _mm512_set1_epi64(kFixNan), 0));
#else
  return x == x ? x : broadcast(bit_cast<double>(kNan64));
#endif
}

// The bits of one vector of floats as elements of a half type.
using VHalfBits = Vec<uint16_t, kFloats>;

// The high half of each lane is the bfloat16.
BN_INLINE Vec<uint32_t, kFloats> round_high_half(VF x) {
  using VI = Vec<uint32_t, kFloats>;
  const VI bits = bit_cast<VI>(one_nan(x));
#if defined(__AVX512F__)
  const __m512i raw = bit_cast<__m512i>(bits);
  const __mmask16 odd = _mm512_test_epi32_mask(raw, _mm512_set1_epi32(0x10000));
  const __m512i below = _mm512_add_epi32(raw, _mm512_set1_epi32(0x7FFF));
  return bit_cast<VI>(_mm512_mask_add_epi32(below, odd, below, _mm512_set1_epi32(1)));
#else
  return bits + 0x7FFFu + (bits >> 16 & 1u);
#endif
}

BN_INLINE VHalfBits round_to_bfloat16(VF x) {
  return low_halves(round_high_half(x) >> 16);
}

// Two vectors of bfloat16 elements at once, those at even and at odd places: cheaper than one after the other.
struct Pair {
  VF even, odd;
};

BN_INLINE Pair load_pair(const BFloat16* p) {
  using VI = Vec<uint32_t, kFloats>;
  const VI bits = load_raw<VI>(p);
  return {bit_cast<VF>(bits << 16), bit_cast<VF>(bits & 0xFFFF0000u)};
}

BN_INLINE Vec<uint32_t, kFloats> round_pair(const Pair& x) {
  return round_high_half(x.even) >> 16 | (round_high_half(x.odd) & 0xFFFF0000u);
}

BN_INLINE VHalfBits round_to_half(VF x) {
  const VF clean = one_nan(x);
#if defined(__AVX512F__)
  return bit_cast<VHalfBits>(
      _mm512_maskz_cvtps_ph(0xFFFF, bit_cast<__m512>(clean), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(__F16C__)
  return bit_cast<VHalfBits>(_mm256_cvtps_ph(bit_cast<__m256>(clean), _MM_FROUND_TO_NEAREST_INT));
#else
  using VI = Vec<uint32_t, kFloats>;
  const VI bits = bit_cast<VI>(clean);
  const VI magnitude = bits & 0x7FFFFFFFu;
  // Below 2^-14: a float in [0.5, 1) has the spacing of the half's subnormals, so the addition rounds.
  const VI subnormal = bit_cast<VI>(bit_cast<VF>(magnitude) + 0.5f) - 0x3F000000u;
  const VI normal = (magnitude - (112u << 23) + 0xFFFu + (magnitude >> 13 & 1u)) >> 13;
  const VI infinite_or_nan = magnitude > 0x7F800000u ? VI{} + kNanHalf : VI{} + 0x7C00u;
  const VI finite = magnitude < 0x38800000u ? subnormal : normal;
  const VI rounded = magnitude >= 0x47800000u ? infinite_or_nan : finite;
  return low_halves((bits >> 16 & 0x8000u) | rounded);
#endif
}

// One vector of floats or doubles, stored as elements of the type.
BN_INLINE void store(float* p, VF x) {
  store_raw(p, one_nan(x));
}
BN_INLINE void store(double* p, VD x) {
  store_raw(p, one_nan(x));
}
BN_INLINE void store(BFloat16* p, VF x) {
  store_raw(p, round_to_bfloat16(x));
}
BN_INLINE void store(Half* p, VF x) {
  store_raw(p, round_to_half(x));
}

// The same past the caches. The address is aligned to the bytes that are written.
template <class V>
BN_INLINE void stream_raw(void* p, V v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return _mm512_stream_si512(static_cast<__m512i*>(p), bit_cast<__m512i>(v));
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) return _mm256_stream_si256(static_cast<__m256i*>(p), bit_cast<__m256i>(v));
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(V) == 16) return _mm_stream_si128(static_cast<__m128i*>(p), bit_cast<__m128i>(v));
#endif
  store_raw(p, v);
}

BN_INLINE void stream(float* p, VF x) {
  stream_raw(p, one_nan(x));
}
BN_INLINE void stream(double* p, VD x) {
  stream_raw(p, one_nan(x));
}
BN_INLINE void stream(BFloat16* p, VF x) {
  stream_raw(p, round_to_bfloat16(x));
}
BN_INLINE void stream(Half* p, VF x) {
  stream_raw(p, round_to_half(x));
}

// Streamed data is visible to other threads only after this.
BN_INLINE void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// ---- partial vectors -----------------------------------------------------------------------------------------

#if defined(__AVX512BW__) && defined(__AVX512VL__)
// The first `count` of the lanes, which may be none or all; 16 at most.
BN_INLINE uint32_t first_lanes(int64_t count) {
  return count <= 0 ? 0u : (count >= 16 ? 0xFFFFu : (1u << count) - 1);
}
#endif

// Vectors of the first `count` elements at p (none or all of them, too); nothing is read past them, and the other
// lanes are 0.
template <int kCount, class Elem>
BN_INLINE Vec<float, kCount> load_f32_first(const Elem* p, int64_t count) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  const uint32_t lanes = first_lanes(count);
  if constexpr (sizeof(Elem) == 4 && kCount == 16) {
    return bit_cast<Vec<float, 16>>(_mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), p));
  } else if constexpr (sizeof(Elem) == 4 && kCount == 8) {
    return bit_cast<Vec<float, 8>>(_mm256_maskz_loadu_ps(static_cast<__mmask8>(lanes), p));
  } else if constexpr (sizeof(Elem) == 2 && kCount == 16) {
    const auto raw = _mm256_maskz_loadu_epi16(static_cast<__mmask16>(lanes), p);
    return load_f32<16>(reinterpret_cast<const Elem*>(&raw));
  } else if constexpr (sizeof(Elem) == 2 && kCount == 8) {
    const auto raw = _mm_maskz_loadu_epi16(static_cast<__mmask8>(lanes), p);
    return load_f32<8>(reinterpret_cast<const Elem*>(&raw));
  }
#endif
  Elem buffer[kCount];
  memset(static_cast<void*>(buffer), 0, sizeof(buffer));
  for (int64_t i = 0; i < count && i < kCount; ++i)
    buffer[i] = p[i];
  return load_f32<kCount>(buffer);
}

BN_INLINE VD load_first(const double* p, int64_t count) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  return bit_cast<VD>(_mm512_maskz_loadu_pd(static_cast<__mmask8>(first_lanes(count)), p));
#else
  VD x{};
  for (int64_t i = 0; i < count && i < kDoubles; ++i)
    x[i] = p[i];
  return x;
#endif
}

template <class Elem>
BN_INLINE VD load_f64_first(const Elem* p, int64_t count) {
  return to_f64(load_f32_first<kDoubles>(p, count));
}
BN_INLINE VD load_f64_first(const double* p, int64_t count) {
  return load_first(p, count);
}

// Stores the first `count` lanes as elements of the type, less than all.
template <class Elem, class V>
BN_INLINE void store_first(Elem* p, V x, int64_t count) {
  constexpr int kWidth = static_cast<int>(sizeof(V) / (sizeof(Elem) == 8 ? 8 : 4));
  alignas(64) Elem buffer[kWidth];
  store(buffer, x);
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  const uint32_t lanes = first_lanes(count);
  if constexpr (sizeof(Elem) == 4) {
    return _mm512_mask_storeu_epi32(p, static_cast<__mmask16>(lanes), load_raw<__m512i>(buffer));
  } else if constexpr (sizeof(Elem) == 2) {
    return _mm256_mask_storeu_epi16(p, static_cast<__mmask16>(lanes), load_raw<__m256i>(buffer));
  } else {
    return _mm512_mask_storeu_epi64(p, static_cast<__mmask8>(lanes), load_raw<__m512i>(buffer));
  }
#endif
  for (int64_t i = 0; i < count; ++i)
    p[i] = buffer[i];
}

// Lanes below `count` of x, zero in the others.
BN_INLINE VD keep_first(VD x, int64_t count) {
  Vec<int64_t, kDoubles> lane;
  for (int i = 0; i < kDoubles; ++i)
    lane[i] = i;
  return lane < count ? x : VD{};
}

// Compute type of the map stage for an element type, and a vector of it.
template <class Elem>
struct ComputeOf {
  using Scalar = float;
  using Vector = VF;
};
template <>
struct ComputeOf<double> {
  using Scalar = double;
  using Vector = VD;
};

// How many lanes are loaded: all of them, or the first `count`.
struct Whole {};
struct First {
  int64_t count;
};

template <class Elem>
BN_INLINE typename ComputeOf<Elem>::Vector load_compute(const Elem* p, Whole) {
  if constexpr (sizeof(Elem) == 8) {
    return load_raw<VD>(p);
  } else {
    return load_f32<kFloats>(p);
  }
}
template <class Elem>
BN_INLINE typename ComputeOf<Elem>::Vector load_compute(const Elem* p, First first) {
  if constexpr (sizeof(Elem) == 8) {
    return load_first(p, first.count);
  } else {
    return load_f32_first<kFloats>(p, first.count);
  }
}

// Of twice as many bfloat16 elements, those at even or at odd places: fewer instructions than in their order.
struct Even {};
struct Odd {};

BN_INLINE VD load_f64(const BFloat16* p, Even) {
  return to_f64(bit_cast<Vec<float, kDoubles>>(load_raw<Vec<uint32_t, kDoubles>>(p) << 16));
}
BN_INLINE VD load_f64(const BFloat16* p, Odd) {
  return to_f64(bit_cast<Vec<float, kDoubles>>(load_raw<Vec<uint32_t, kDoubles>>(p) & 0xFFFF0000u));
}

template <class Elem>
BN_INLINE VD load_f64(const Elem* p, Whole) {
  return load_f64(p);
}
template <class Elem>
BN_INLINE VD load_f64(const Elem* p, First first) {
  return load_f64_first(p, first.count);
}

BN_INLINE double element(const VD& v, int i) {
  return v[i];
}
BN_INLINE CompensatedSum<double> element(const CompensatedSum<VD>& sum, int i) {
  return {sum.value[i], sum.error[i]};
}

BN_INLINE void set_element(VD& v, int i, double x) {
  v[i] = x;
}
BN_INLINE void set_element(CompensatedSum<VD>& sum, int i, const CompensatedSum<double>& x) {
  sum.value[i] = x.value;
  sum.error[i] = x.error;
}

// What one lane sums with: float64 data keeps the rounding errors of its sums.
template <class Elem, class V>
struct SumOf {
  using type = V;
};
template <class V>
struct SumOf<double, V> {
  using type = CompensatedSum<V>;
};

}  // namespace bn::cpu::BN_ISA
