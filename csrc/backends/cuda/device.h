// What kernels use of the machine: memory accesses, shuffles, shared memory; and how the host launches them.
//
// The kernels also compile as plain C++ (BN_SIMT) for the emulator of the tests. All that differs is in this file:
// the emulator watches every access to global memory, so kernels make them through load_global and store_global
// only; it provides the bn_simt_ functions below, and the rest under CUDA's own names.
#pragma once

#include <cuda_runtime.h>

#if defined(BN_SIMT)
#include <bn_simt.h>

// math/dtype.h reads and writes parameters of kernels, too.
#define BN_READABLE(address, size_bytes) bn_simt_note_load(address, size_bytes)
#define BN_WRITABLE(address, size_bytes) bn_simt_note_store(address, size_bytes)
#endif

#include <cstdint>
#include <cstring>
#include <tuple>

#include "backends/cuda/error.h"
#include "math/dtype.h"

#if defined(BN_SIMT) && !defined(BN_DTYPE_SEES_HOOKS)
#error "include backends/cuda/device.h before any other header of the project"
#endif

namespace bn::cuda {

// Everything the kernels assume about a block.
inline constexpr int kWarp = 32;
inline constexpr int kBlock = 256;
// Of a multiprocessor. One, so that ptxas takes the registers that a kernel needs: left to itself it spills a few to
// make room for another block.
inline constexpr int kBlocksAtLeast = 1;

// ---- global memory -----------------------------------------------------------------------------------------

template <class T>
__device__ inline T load_global(const T* address) {
#if defined(BN_SIMT)
  address = static_cast<const T*>(bn_simt_note_load(address, sizeof(T)));
#endif
  return *address;
}

template <class T>
__device__ inline void store_global(T* address, T value) {
#if defined(BN_SIMT)
  address = static_cast<T*>(bn_simt_note_store(address, sizeof(T)));
#endif
  *address = value;
}

// 16 bytes in one access. The address is a multiple of 16.
struct alignas(16) Bytes16 {
  uint32_t word[4];
};

__device__ inline Bytes16 load_global_16(const void* address) {
#if defined(BN_SIMT)
  return *static_cast<const Bytes16*>(bn_simt_note_load(address, 16));
#else
  const uint4 raw = *static_cast<const uint4*>(address);
  return {{raw.x, raw.y, raw.z, raw.w}};
#endif
}

__device__ inline void store_global_16(void* address, const Bytes16& value) {
#if defined(BN_SIMT)
  *static_cast<Bytes16*>(bn_simt_note_store(address, 16)) = value;
#else
  *static_cast<uint4*>(address) = make_uint4(value.word[0], value.word[1], value.word[2], value.word[3]);
#endif
}

// ---- inside a block ----------------------------------------------------------------------------------------

// The value of the lane `delta` further on; for the lanes whose result is not used, anything.
template <class T>
__device__ inline T shuffle_down(const T& value, unsigned delta) {
  static_assert(sizeof(T) % 4 == 0, "shuffles move words");
  uint32_t words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (uint32_t& word : words)
    word = __shfl_down_sync(0xFFFFFFFFu, word, delta);
  T other;
  memcpy(&other, words, sizeof(T));
  return other;
}

__device__ inline unsigned char* dynamic_shared() {
#if defined(BN_SIMT)
  return bn_simt_dynamic_shared();
#else
  extern __shared__ __align__(16) unsigned char shared_memory[];
  return shared_memory;
#endif
}

// ---- conversions: those of math/dtype.h, by the instructions that do the same ---------------------------------

__device__ inline float widen_fast(Half x) {
#if defined(__CUDA_ARCH__)
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
#else
  return widen(x);
#endif
}
__device__ inline float widen_fast(BFloat16 x) {
  return widen(x);
}
__device__ inline float widen_fast(float x) {
  return x;
}
__device__ inline double widen_fast(double x) {
  return x;
}

template <class T>
__device__ inline T narrow_fast(float x);

template <>
__device__ inline float narrow_fast<float>(float x) {
  return x == x ? x : bit_cast<float>(kNan32);
}
template <>
__device__ inline Half narrow_fast<Half>(float x) {
#if defined(__CUDA_ARCH__)
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return Half{x == x ? bits : kNanHalf};
#else
  return narrow<Half>(static_cast<double>(x));
#endif
}
template <>
__device__ inline BFloat16 narrow_fast<BFloat16>(float x) {
  const uint32_t bits = bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
  return BFloat16{x == x ? static_cast<uint16_t>(rounded) : kNanBFloat16};
}
template <>
__device__ inline double narrow_fast<double>(float x) {
  return x == x ? static_cast<double>(x) : bit_cast<double>(kNan64);
}

// ---- launches ----------------------------------------------------------------------------------------------

struct LaunchShape {
  unsigned blocks = 1;
  unsigned threads = kBlock;
  size_t shared_bytes = 0;
  // The most that a block of the device can have; for kernels that may need more than usual.
  size_t shared_limit = 0;
};

// What every kernel can have without asking.
inline constexpr size_t kUsualShared = 48 << 10;

template <class... Params, class... Args>
void launch(const char* name, void (*kernel)(Params...), const LaunchShape& shape, cudaStream_t stream,
            const Args&... args) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  if (shape.shared_bytes > kUsualShared) {
    // Always the same value, so that threads which launch the same kernel do not take it from each other.
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_limit)),
          name);
  }
#if defined(BN_SIMT)
  check(bn_simt_launch(&config, name, reinterpret_cast<const void*>(kernel),
                       [kernel, values = std::tuple<Params...>(args...)] { std::apply(kernel, values); }),
        name);
#else
  std::tuple<std::remove_const_t<Params>...> values(args...);
  std::apply(
      [&](auto&... value) {
        void* pointers[] = {static_cast<void*>(&value)...};
        check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers), name);
      },
      values);
#endif
}

}  // namespace bn::cuda
