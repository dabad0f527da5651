// Per-channel values, a vector of neighbouring channels at a time: what finalize computes on, and the coefficients of
// the map stage. Data of a few elements a channel spends as much time here as on its elements.
#pragma once

#include "backends/cpu/reduce.h"
#include "backends/cpu/simd.h"
#include "math/finalize.h"
#include "math/map.h"

namespace bn::cpu::BN_ISA {

// The first `count` of kDoubles channels' values; the other lanes are 0.
template <class Elem>
BN_INLINE VD load_some(const void* p, int64_t count) {
  const Elem* elements = static_cast<const Elem*>(p);
  return count == kDoubles ? load_f64(elements) : load_f64_first(elements, count);
}

static __attribute__((noinline)) VD load_channels(const char* p, int64_t stride, DType dtype, int64_t count) {
  if (stride == 1) {
    switch (dtype) {
      case DType::kFloat64:
        return load_some<double>(p, count);
      case DType::kFloat32:
        return load_some<float>(p, count);
      case DType::kFloat16:
        return load_some<Half>(p, count);
      case DType::kBFloat16:
        return load_some<BFloat16>(p, count);
      default:
        break;
    }
  }
  VD values{};
  for (int64_t i = 0; i < count; ++i)
    values[i] = load_as_double(p + i * stride * dtype_size(dtype), dtype);
  return values;
}

static __attribute__((noinline)) void store_channels(char* p, int64_t stride, DType dtype, int64_t count,
                                                     VD values) {
  if (stride == 1 && count == kDoubles) {
    if (dtype == DType::kFloat64) return store_raw(p, one_nan(values));
    if (dtype == DType::kFloat32) return store_raw(p, to_f32(one_nan(values)));
  }
  for (int64_t i = 0; i < count; ++i)
    store_from_double(p + i * stride * dtype_size(dtype), dtype, values[i]);
}

// The `Channels` of math/finalize.h: channels first to first + count, at most kDoubles.
struct ChannelVector {
  using Value = VD;
  int64_t first;
  int64_t count;

  BN_INLINE VD load(const ChannelArg& arg, double otherwise = 0.0) const {
    if (!present(arg)) return broadcast(otherwise);
    const char* at = static_cast<const char*>(arg.data) + first * arg.stride * dtype_size(arg.dtype);
    return load_channels(at, arg.stride, arg.dtype, count);
  }
  BN_INLINE VD load(const TensorArg& arg, int64_t row) const {
    const int64_t index = row * arg.strides[0] + first * arg.strides[1];
    return load_channels(static_cast<const char*>(arg.data) + index * dtype_size(arg.dtype), arg.strides[1],
                         arg.dtype, count);
  }
  BN_INLINE void store(const ChannelArg& arg, VD values) const {
    if (!present(arg)) return;
    char* at = static_cast<char*>(arg.data) + first * arg.stride * dtype_size(arg.dtype);
    store_channels(at, arg.stride, arg.dtype, count, values);
  }
  static BN_INLINE VD square_root(VD x) { return bn::cpu::BN_ISA::square_root(x); }
};

// The channels from `first` to `end`, vector by vector.
template <class Use>
BN_INLINE void for_channel_vectors(int64_t first, int64_t end, Use use) {
  for (int64_t channel = first; channel < end; channel += kDoubles)
    use(ChannelVector{channel, end - channel < kDoubles ? end - channel : kDoubles});
}

// What the reduction of kDyDotXmu subtracts, of each of the channels.
static __attribute__((noinline)) void load_means(const Program& p, int64_t channel, int64_t channels,
                                                 double* means) {
  for_channel_vectors(channel, channel + channels, [&](const ChannelVector& at) {
    const VD values = reduction_mean(p, at);
    memcpy(means + (at.first - channel), &values, static_cast<size_t>(at.count) * sizeof(double));
  });
}

// ---- coefficients of the map stage -------------------------------------------------------------------------------

// In float64, as finalize leaves them: an array for each field, `pitch` values long. Whole vectors may be read behind
// the last channel; kPlanePadding makes room for it.
struct CoefficientPlanes {
  double* data;
  int64_t pitch;

  BN_INLINE CoefficientPlanes from(int64_t channel) const { return {data + channel, pitch}; }

  // The first `count` channels.
  BN_INLINE void store(int64_t count, const CoefficientsOf<VD>& k) const {
    const VD fields[kCoefficientFields] = {k.mean, k.scale, k.shift, k.offset, k.slope};
    for (int f = 0; f < kCoefficientFields; ++f) {
      double* at = data + f * pitch;
      if (count == kDoubles) {
        store_raw(at, fields[f]);
      } else {
        memcpy(at, &fields[f],
               static_cast<size_t>(count) * sizeof(double));  // the next ones may be another task's
      }
    }
  }
  BN_INLINE CoefficientsOf<VD> vector(int64_t channel) const {
    const double* at = data + channel;
    return {load_raw<VD>(at), load_raw<VD>(at + pitch), load_raw<VD>(at + 2 * pitch),
            load_raw<VD>(at + 3 * pitch), load_raw<VD>(at + 4 * pitch)};
  }
  BN_INLINE ChannelCoefficients one(int64_t channel) const {
    const double* at = data + channel;
    return {at[0], at[pitch], at[2 * pitch], at[3 * pitch], at[4 * pitch]};
  }
};

// How coefficients_f32 of math/map.h converts vectors.
struct NarrowVectors {
  static BN_INLINE Vec<float, kDoubles> narrow(VD x) { return to_f32(x); }
  static BN_INLINE VD widen(Vec<float, kDoubles> x) { return to_f64(x); }
};

// The same in the type that a map computes in, for up to kCount channels.
template <class Elem, int kCount>
struct MapCoefficients {
  using Scalar = typename ComputeOf<Elem>::Scalar;
  using V = typename ComputeOf<Elem>::Vector;
  static_assert(kCount % kDoubles == 0, "whole vectors");

  alignas(64) Scalar mean_hi[kCount];
  alignas(64) Scalar mean_lo[kCount];
  alignas(64) Scalar scale[kCount];
  alignas(64) Scalar shift[kCount];
  alignas(64) Scalar offset[kCount];
  alignas(64) Scalar slope[kCount];
  CoefficientPlanes exact;
  bool all_fit;  // float32 can hold all of them

  // Made for each task: not set to zero first.
  BN_INLINE MapCoefficients() {}

  BN_INLINE void set(const CoefficientPlanes& planes, int64_t channels) {
    exact = planes;
    all_fit = true;
    for (int64_t c = 0; c < channels; c += kDoubles) {
      const CoefficientsOf<VD> k = planes.vector(c);
      if constexpr (sizeof(Elem) == 8) {
        put(c, coefficients_f64(k));
      } else {
        put(c, coefficients_f32<NarrowVectors>(k));
        const Vec<int64_t, kDoubles> fit = fits_f32(k);
        for (int64_t i = 0; i < kDoubles; ++i)
          all_fit = all_fit && (fit[i] != 0 || c + i >= channels);
      }
    }
  }
  BN_INLINE bool fits(int64_t c) const { return all_fit || fits_f32(exact.one(c)); }

  // Channel c's, in every lane.
  BN_INLINE Coefficients<V> in_all_lanes(int64_t c) const {
    return {broadcast(mean_hi[c]), broadcast(mean_lo[c]), broadcast(scale[c]),
            broadcast(shift[c]),   broadcast(offset[c]),  broadcast(slope[c])};
  }
  // Those of as many columns as a vector has lanes.
  BN_INLINE Coefficients<V> lanes(int64_t v) const {
    return {load_raw<V>(mean_hi + v), load_raw<V>(mean_lo + v), load_raw<V>(scale + v),
            load_raw<V>(shift + v),   load_raw<V>(offset + v),  load_raw<V>(slope + v)};
  }
  BN_INLINE void copy(int64_t to, const MapCoefficients& from, int64_t c) {
    mean_hi[to] = from.mean_hi[c];
    mean_lo[to] = from.mean_lo[c];
    scale[to] = from.scale[c];
    shift[to] = from.shift[c];
    offset[to] = from.offset[c];
    slope[to] = from.slope[c];
  }

 private:
  template <class Lanes>
  BN_INLINE void put(int64_t c, const Coefficients<Lanes>& k) {
    store_raw(mean_hi + c, k.mean_hi);
    store_raw(mean_lo + c, k.mean_lo);
    store_raw(scale + c, k.scale);
    store_raw(shift + c, k.shift);
    store_raw(offset + c, k.offset);
    store_raw(slope + c, k.slope);
  }
};

}  // namespace bn::cpu::BN_ISA
