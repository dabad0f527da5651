// Vectors of elements, from memory to registers and back.
#pragma once

#include "backends/cuda/device.h"
#include "core/program.h"
#include "math/quantize.h"
#include "math/sum.h"

namespace bn::cuda {

// Stands for "each tensor has its own type": one element at a time, by a switch that all threads take alike.
struct AnyElement {};

template <class T>
inline constexpr int kVectorWidth = 16 / static_cast<int>(sizeof(T));
template <>
inline constexpr int kVectorWidth<AnyElement> = 1;

// How elements of a type are added up and mapped.
template <class T>
struct Arithmetic {
  using Sum = double;
  using Value = float;  // of maps whose coefficients fit
};
template <>
struct Arithmetic<double> {
  using Sum = CompensatedSum<double>;
  using Value = double;
};
template <>
struct Arithmetic<AnyElement> {
  using Sum = CompensatedSum<double>;
  using Value = double;
};

template <class T, int kWidth>
struct Vector {
  T element[kWidth];

  // The first `count` elements from `offset` on; the others become zero. `aligned`: a whole vector is at a multiple
  // of 16 bytes.
  __device__ static Vector load(const DataArg& arg, int64_t offset, int count, bool aligned) {
    const T* address = static_cast<const T*>(arg.data) + offset;
    Vector vector;
    if (kWidth * sizeof(T) == 16 && aligned && count == kWidth) {
      const Bytes16 raw = load_global_16(address);
      memcpy(&vector, &raw, sizeof(vector));
    } else {
#pragma unroll
      for (int i = 0; i < kWidth; ++i)
        vector.element[i] = i < count ? load_global(address + i) : T{};
    }
    return vector;
  }

  __device__ void store(const DataArg& arg, int64_t offset, int count, bool aligned) const {
    T* address = static_cast<T*>(arg.data) + offset;
    if (kWidth * sizeof(T) == 16 && aligned && count == kWidth) {
      Bytes16 raw;
      memcpy(&raw, this, sizeof(raw));
      store_global_16(address, raw);
    } else {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        if (i < count) store_global(address + i, element[i]);
      }
    }
  }

  __device__ void clear(int i) { element[i] = T{}; }

  template <class V>
  __device__ V get(const DataArg&, int i) const {
    return static_cast<V>(widen_fast(element[i]));
  }
  __device__ void set(const DataArg&, int i, float value) { element[i] = narrow_fast<T>(value); }
  __device__ void set(const DataArg&, int i, double value) { element[i] = narrow<T>(value); }
};

template <>
struct Vector<AnyElement, 1> {
  uint64_t bits;

  __device__ static Vector load(const DataArg& arg, int64_t offset, int count, bool) {
    Vector vector{0};
    if (count == 0) return vector;
    switch (dtype_size(arg.dtype)) {
      case 8:
        vector.bits = load_global(static_cast<const uint64_t*>(arg.data) + offset);
        break;
      case 4:
        vector.bits = load_global(static_cast<const uint32_t*>(arg.data) + offset);
        break;
      case 2:
        vector.bits = load_global(static_cast<const uint16_t*>(arg.data) + offset);
        break;
      default:
        vector.bits = load_global(static_cast<const uint8_t*>(arg.data) + offset);
        break;
    }
    return vector;
  }

  __device__ void store(const DataArg& arg, int64_t offset, int count, bool) const {
    if (count == 0) return;
    switch (dtype_size(arg.dtype)) {
      case 8:
        store_global(static_cast<uint64_t*>(arg.data) + offset, bits);
        break;
      case 4:
        store_global(static_cast<uint32_t*>(arg.data) + offset, static_cast<uint32_t>(bits));
        break;
      case 2:
        store_global(static_cast<uint16_t*>(arg.data) + offset, static_cast<uint16_t>(bits));
        break;
      default:
        store_global(static_cast<uint8_t*>(arg.data) + offset, static_cast<uint8_t>(bits));
        break;
    }
  }

  __device__ void clear(int) { bits = 0; }

  template <class V>
  __device__ V get(const DataArg& arg, int) const {
    switch (arg.dtype) {
      case DType::kFloat64:
        return static_cast<V>(bit_cast<double>(bits));
      case DType::kFloat32:
        return static_cast<V>(bit_cast<float>(static_cast<uint32_t>(bits)));
      case DType::kFloat16:
        return static_cast<V>(widen_fast(Half{static_cast<uint16_t>(bits)}));
      case DType::kBFloat16:
        return static_cast<V>(widen_fast(BFloat16{static_cast<uint16_t>(bits)}));
      case DType::kInt32:
        return static_cast<V>(static_cast<int32_t>(bits));
      case DType::kInt8:
        return static_cast<V>(static_cast<int8_t>(bits));
      default:
        return static_cast<V>(static_cast<uint8_t>(bits));
    }
  }

  // For integers; t is not rounded yet.
  __device__ void set_integer(const DataArg& arg, double t) {
    switch (arg.dtype) {
      case DType::kInt8:
        bits = static_cast<uint64_t>(round_and_saturate(t, -128, 127));
        break;
      case DType::kUInt8:
        bits = static_cast<uint64_t>(round_and_saturate(t, 0, 255));
        break;
      default:
        bits = static_cast<uint64_t>(round_and_saturate(t, -2147483648LL, 2147483647LL));
        break;
    }
  }

  __device__ void set(const DataArg& arg, int, double value) {
    switch (arg.dtype) {
      case DType::kFloat64:
        bits = bit_cast<uint64_t>(narrow<double>(value));
        break;
      case DType::kFloat32:
        bits = bit_cast<uint32_t>(narrow<float>(value));
        break;
      case DType::kFloat16:
        bits = narrow<Half>(value).bits;
        break;
      default:
        bits = narrow<BFloat16>(value).bits;
        break;
    }
  }
};

// Do whole vectors of this tensor lie at multiples of 16 bytes? The plan has seen to the strides.
__device__ inline bool base_aligned(const DataArg& arg) {
  return (reinterpret_cast<uintptr_t>(arg.data) & 15u) == 0;
}

}  // namespace bn::cuda
