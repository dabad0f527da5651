// The map stage in terms of vectors: one run of one channel.
//
// A map is a struct with apply(x, dy, extra, coefficients, out, residual), for vectors and for single values, and
// masks of the tensors that it reads and writes.
#pragma once

#include "backends/cpu/channels.h"
#include "backends/cpu/reduce.h"
#include "backends/cpu/simd.h"
#include "math/map.h"
#include "math/quantize.h"

namespace bn::cpu::BN_ISA {

// NaN stays.
template <class V>
BN_INLINE V relu(V x) {
  return x < typename std::decay<V>::type{} ? V{} : x;
}

template <class V>
BN_INLINE V where_positive(V condition, V x) {
  return condition > V{} ? x : V{};
}

// The variants of a map beyond the plain one are told apart at run time: a branch that never changes its way costs
// next to nothing, another copy of every kernel costs compile time and cache.
struct Variants {
  bool relu;      // normalize: out = max(out, 0); backward: dy counts only where `extra` is above 0
  bool residual;  // normalize: `extra` is added; backward: the dy that counts is an output of its own
};

template <bool kPlain>
struct MapNormalize {
  Variants variants;

  BN_INLINE unsigned reads() const { return 1u << kX | (!kPlain && variants.residual ? 1u << kExtra : 0u); }
  BN_INLINE unsigned writes() const { return 1u << kOut; }

  template <class V>
  BN_INLINE void apply(V x, V, V extra, const Coefficients<V>& k, V& out, V&) const {
    out = normalize(x, k);
    if (!kPlain && variants.residual) out = out + extra;
    if (!kPlain && variants.relu) out = relu(out);
  }
};

// kScaleOnly: dx = dy * scale.
template <bool kPlain, bool kScaleOnly>
struct MapBackward {
  Variants variants;

  BN_INLINE unsigned reads() const {
    return 1u << kDy | (kScaleOnly ? 0u : 1u << kX) | (!kPlain && variants.relu ? 1u << kExtra : 0u);
  }
  BN_INLINE unsigned writes() const {
    return 1u << kOut | (!kPlain && variants.residual ? 1u << kGradResidual : 0u);
  }

  template <class V>
  BN_INLINE void apply(V x, V dy, V extra, const Coefficients<V>& k, V& out, V& residual) const {
    if (!kPlain && variants.relu) dy = where_positive(extra, dy);
    if (!kPlain) residual = dy;
    out = kScaleOnly ? dy * k.scale : backward(dy, x, k);
  }
};

BN_INLINE double truncate(double x) {
  return static_cast<double>(static_cast<int32_t>(x));
}
BN_INLINE VD truncate(VD x) {
  return __builtin_convertvector(__builtin_convertvector(x, Vec<int32_t, kDoubles>), VD);
}

// As round_and_saturate of math/quantize.h, for a vector; low and high are within int32.
template <class V>
BN_INLINE V round_and_clamp(V t, V low, V high) {
  t = t == t ? t : V{};
  t = t > low ? t : low;
  t = t < high ? t : high;
  const V whole = truncate(t);
  const V rest = t - whole;
  const V one = V{} + 1.0;
  const V rounded = whole + (rest >= 0.5 ? one : (rest <= -0.5 ? V{} - one : V{}));
  return rounded < high ? rounded : high;
}

// Values are doubles: integers as they were packed, and integers to be.
struct MapQuantize {
  Quantization quantization;
  double low, high;

  BN_INLINE explicit MapQuantize(const Program& p)
      : quantization{p.input_scale, static_cast<double>(p.input_zero_point), p.output_scale,
                     static_cast<double>(p.output_zero_point)},
        low(p.out.dtype == DType::kUInt8 ? 0.0 : (p.out.dtype == DType::kInt8 ? -128.0 : -2147483648.0)),
        high(p.out.dtype == DType::kUInt8 ? 255.0 : (p.out.dtype == DType::kInt8 ? 127.0 : 2147483647.0)) {}

  BN_INLINE unsigned reads() const { return 1u << kX; }
  BN_INLINE unsigned writes() const { return 1u << kOut; }

  template <class V>
  BN_INLINE void apply(V x, V, V, const Coefficients<V>& k, V& out, V&) const {
    out = round_and_clamp(dequantize_normalize_requantize(x, k, quantization), V{} + low, V{} + high);
  }
};

// One vector of elements at p + i.
template <bool kStream, class Map, class Elem, class V>
BN_INLINE void map_vector(const Map& map, const Pointers<Elem>& p, int64_t i, const Coefficients<V>& k) {
  const unsigned reads = map.reads();
  V x{}, dy{}, extra{}, out, residual;
  if (reads >> kX & 1) x = load_compute(p.x() + i, Whole{});
  if (reads >> kDy & 1) dy = load_compute(p.dy() + i, Whole{});
  if (reads >> kExtra & 1) extra = load_compute(p.extra() + i, Whole{});
  map.apply(x, dy, extra, k, out, residual);
  if constexpr (kStream) {
    stream(p.at[kOut] + i, out);
  } else {
    store(p.at[kOut] + i, out);
  }
  if (map.writes() >> kGradResidual & 1) store(p.at[kGradResidual] + i, residual);
}

// Bfloat16 elements are mapped in pairs of vectors (simd.h); the others one vector at a time.
template <class Elem>
inline constexpr bool kPaired = std::is_same<Elem, BFloat16>::value;

// Elements that map_step takes: a vector, or a pair of them.
template <class Elem>
inline constexpr int kStep = kPaired<Elem> ? 2 * kFloats : (sizeof(Elem) == 8 ? kDoubles : kFloats);

template <class Elem, class V>
struct StepCoefficients {
  Coefficients<V> k;
};
template <class V>
struct StepCoefficients<BFloat16, V> {
  Coefficients<V> k, odd;
};

// kStep elements at p + i.
template <bool kStream, class Map, class Elem, class V>
BN_INLINE void map_step(const Map& map, const Pointers<Elem>& p, int64_t i,
                        const StepCoefficients<Elem, V>& k) {
  const unsigned reads = map.reads();
  if constexpr (!kPaired<Elem>) {
    map_vector<kStream>(map, p, i, k.k);
  } else {
    Pair x{}, dy{}, extra{}, out, residual;
    if (reads >> kX & 1) x = load_pair(p.x() + i);
    if (reads >> kDy & 1) dy = load_pair(p.dy() + i);
    if (reads >> kExtra & 1) extra = load_pair(p.extra() + i);
    map.apply(x.even, dy.even, extra.even, k.k, out.even, residual.even);
    map.apply(x.odd, dy.odd, extra.odd, k.odd, out.odd, residual.odd);
    if constexpr (kStream) {
      stream_raw(p.at[kOut] + i, round_pair(out));
    } else {
      store_raw(p.at[kOut] + i, round_pair(out));
    }
    if (map.writes() >> kGradResidual & 1) store_raw(p.at[kGradResidual] + i, round_pair(residual));
  }
}

// Fewer elements than a vector has.
template <class Map, class Elem, class V>
BN_INLINE void map_tail(const Map& map, const Pointers<Elem>& p, int64_t i, int64_t count,
                        const Coefficients<V>& k) {
  const unsigned reads = map.reads();
  V x{}, dy{}, extra{}, out, residual;
  if (reads >> kX & 1) x = load_compute(p.x() + i, First{count});
  if (reads >> kDy & 1) dy = load_compute(p.dy() + i, First{count});
  if (reads >> kExtra & 1) extra = load_compute(p.extra() + i, First{count});
  map.apply(x, dy, extra, k, out, residual);
  store_first(p.at[kOut] + i, out, count);
  if (map.writes() >> kGradResidual & 1) store_first(p.at[kGradResidual] + i, residual, count);
}

BN_INLINE double to_double(double x) {
  return x;
}
BN_INLINE double to_double(float x) {
  return static_cast<double>(x);
}
BN_INLINE double to_double(Half x) {
  return static_cast<double>(widen(x));
}
BN_INLINE double to_double(BFloat16 x) {
  return static_cast<double>(widen(x));
}

// One element in float64, for coefficients that float32 cannot hold.
template <class Map, class Elem>
BN_INLINE void map_element_f64(const Map& map, const Pointers<Elem>& p, int64_t i,
                               const Coefficients<double>& k) {
  const double x = map.reads() >> kX & 1 ? to_double(p.x()[i]) : 0.0;
  const double dy = map.reads() >> kDy & 1 ? to_double(p.dy()[i]) : 0.0;
  const double extra = map.reads() >> kExtra & 1 ? to_double(p.extra()[i]) : 0.0;
  double out, residual;
  map.apply(x, dy, extra, k, out, residual);
  p.at[kOut][i] = narrow<Elem>(out);
  if (map.writes() >> kGradResidual & 1) p.at[kGradResidual][i] = narrow<Elem>(residual);
}

template <bool kStream, class Map, class Elem, class V>
BN_INLINE void map_run_vectors(const Map& map, const Run<Elem>& run, const Coefficients<V>& k) {
  const Pointers<Elem>& p = run.at;
  const int64_t count = run.count;
  constexpr int kWidth = static_cast<int>(sizeof(V) / sizeof(typename ComputeOf<Elem>::Scalar));
  StepCoefficients<Elem, V> step;
  step.k = k;
  if constexpr (kPaired<Elem>) step.odd = k;
  int64_t i = 0;
  if constexpr (kStream) {
    // Streaming stores are aligned to the bytes they write.
    constexpr uintptr_t kStoreBytes = kStep<Elem> * sizeof(Elem);
    const uintptr_t past = reinterpret_cast<uintptr_t>(p.at[kOut]) % kStoreBytes;
    int64_t head = past == 0 ? 0 : static_cast<int64_t>((kStoreBytes - past) / sizeof(Elem));
    if (head > count) head = count;
    for (; i + kWidth <= head; i += kWidth)
      map_vector<false>(map, p, i, k);
    if (i < head) map_tail(map, p, i, head - i, k);
    i = head;
  }
  i = for_steps<kStep<Elem>>(map.reads(), run, i, [&](int64_t at) { map_step<kStream>(map, p, at, step); });
  if (kPaired<Elem> && i + kWidth <= count) {
    map_vector<false>(map, p, i, k);
    i += kWidth;
  }
  if (i < count) map_tail(map, p, i, count - i, k);
}

template <class Map, class Elem>
__attribute__((noinline)) void map_run_f64(const Map& map, const Run<Elem>& run,
                                           const ChannelCoefficients& k) {
  for (int64_t i = 0; i < run.count; ++i)
    map_element_f64(map, run.at, i, coefficients_f64(k));
}

// A run of channel c.
template <bool kStream, class Map, class Elem, int kCount>
BN_INLINE void map_run(const Map& map, const Run<Elem>& run, const MapCoefficients<Elem, kCount>& k,
                       int64_t c) {
  if (sizeof(Elem) != 8 && !k.fits(c)) return map_run_f64(map, run, k.exact.one(c));
  map_run_vectors<kStream>(map, run, k.in_all_lanes(c));
}

}  // namespace bn::cpu::BN_ISA
