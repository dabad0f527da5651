// CUDA C++ for g++: what kernels use of the language, so that a .cu file compiles as plain C++.
//
// Threads of a block are fibers of one host thread. There is no __shared__: shared memory is dynamic, from
// bn_simt_dynamic_shared(), because that can be poisoned and told apart between the blocks of a cluster.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "bn_simt.h"
#include "cuda_runtime_api.h"
#include "vector_types.h"

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))

// ---- where a thread is -----------------------------------------------------------------------------------------

#define BN_SIMT_THREAD_LOCAL extern __thread __attribute__((tls_model("initial-exec"), visibility("default")))
BN_SIMT_THREAD_LOCAL uint3 threadIdx;
BN_SIMT_THREAD_LOCAL uint3 blockIdx;
BN_SIMT_THREAD_LOCAL dim3 blockDim;
BN_SIMT_THREAD_LOCAL dim3 gridDim;
#undef BN_SIMT_THREAD_LOCAL
inline constexpr int warpSize = 32;

// ---- waiting for each other --------------------------------------------------------------------------------------

namespace bn_simt {

// A place in the source: threads that meet must meet at the same one.
struct Site {
  const char* file;
  int line;
};

enum class Vote { kAny, kAll, kBallot, kCount };

BN_SIMT_API int block_barrier(Site site, int predicate, Vote vote);
BN_SIMT_API void warp_barrier(Site site, unsigned mask);
BN_SIMT_API unsigned warp_vote(Site site, unsigned mask, bool predicate, Vote vote);
BN_SIMT_API uint64_t warp_shuffle(Site site, unsigned mask, uint64_t value, int source_lane);
BN_SIMT_API int lane();
BN_SIMT_API void* writable(void* address, size_t size_bytes);  // for atomics: global or shared memory
[[noreturn]] BN_SIMT_API void trap(cudaError_t error, const char* message);

}  // namespace bn_simt

#define BN_SIMT_HERE bn_simt::Site site = {__builtin_FILE(), __builtin_LINE()}

inline void __syncthreads(BN_SIMT_HERE) {
  bn_simt::block_barrier(site, 0, bn_simt::Vote::kAny);
}
inline int __syncthreads_or(int predicate, BN_SIMT_HERE) {
  return bn_simt::block_barrier(site, predicate, bn_simt::Vote::kAny);
}
inline int __syncthreads_and(int predicate, BN_SIMT_HERE) {
  return bn_simt::block_barrier(site, predicate, bn_simt::Vote::kAll);
}
inline int __syncthreads_count(int predicate, BN_SIMT_HERE) {
  return bn_simt::block_barrier(site, predicate, bn_simt::Vote::kCount);
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, BN_SIMT_HERE) {
  bn_simt::warp_barrier(site, mask);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, BN_SIMT_HERE) {
  return bn_simt::warp_vote(site, mask, predicate != 0, bn_simt::Vote::kBallot);
}
inline int __any_sync(unsigned mask, int predicate, BN_SIMT_HERE) {
  return static_cast<int>(bn_simt::warp_vote(site, mask, predicate != 0, bn_simt::Vote::kAny));
}
inline int __all_sync(unsigned mask, int predicate, BN_SIMT_HERE) {
  return static_cast<int>(bn_simt::warp_vote(site, mask, predicate != 0, bn_simt::Vote::kAll));
}

namespace bn_simt {

template <class T>
inline T shuffle(Site site, unsigned mask, T value, int source_lane) {
  static_assert(std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8),
                "shuffles move 4 or 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = warp_shuffle(site, mask, bits, source_lane);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

// The source lane of each kind of shuffle inside its segment of `width` lanes.
inline int segment(int width) {
  return lane() & ~(width - 1);
}

}  // namespace bn_simt

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, BN_SIMT_HERE) {
  return bn_simt::shuffle(site, mask, value, bn_simt::segment(width) + (source & (width - 1)));
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, BN_SIMT_HERE) {
  const int source = bn_simt::lane() + static_cast<int>(delta);
  return bn_simt::shuffle(site, mask, value,
                          source < bn_simt::segment(width) + width ? source : bn_simt::lane());
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, BN_SIMT_HERE) {
  const int source = bn_simt::lane() - static_cast<int>(delta);
  return bn_simt::shuffle(site, mask, value, source >= bn_simt::segment(width) ? source : bn_simt::lane());
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, BN_SIMT_HERE) {
  const int source = bn_simt::lane() ^ lane_mask;
  return bn_simt::shuffle(site, mask, value,
                          source < bn_simt::segment(width) + width ? source : bn_simt::lane());
}

#undef BN_SIMT_HERE

// One host thread runs the block, so its memory is always in order.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) {}
inline void __trap() {
  bn_simt::trap(cudaErrorLaunchFailure, "__trap");
}

// ---- atomics on integers -------------------------------------------------------------------------------------

namespace bn_simt {

template <class T, class Update>
inline T atomic(T* address, Update update) {
  static_assert(std::is_integral<T>::value, "no atomics on floating-point numbers: their order is not fixed");
  T* where = static_cast<T*>(writable(address, sizeof(T)));
  const T old = *where;
  *where = update(old);
  return old;
}

}  // namespace bn_simt

template <class T>
inline T atomicAdd(T* address, std::common_type_t<T> value) {
  return bn_simt::atomic(address, [=](T old) { return static_cast<T>(old + value); });
}
template <class T>
inline T atomicSub(T* address, std::common_type_t<T> value) {
  return bn_simt::atomic(address, [=](T old) { return static_cast<T>(old - value); });
}
template <class T>
inline T atomicExch(T* address, std::common_type_t<T> value) {
  return bn_simt::atomic(address, [=](T) { return value; });
}
template <class T>
inline T atomicMax(T* address, std::common_type_t<T> value) {
  return bn_simt::atomic(address, [=](T old) { return old > value ? old : value; });
}
template <class T>
inline T atomicMin(T* address, std::common_type_t<T> value) {
  return bn_simt::atomic(address, [=](T old) { return old < value ? old : value; });
}
template <class T>
inline T atomicOr(T* address, std::common_type_t<T> value) {
  return bn_simt::atomic(address, [=](T old) { return static_cast<T>(old | value); });
}
template <class T>
inline T atomicAnd(T* address, std::common_type_t<T> value) {
  return bn_simt::atomic(address, [=](T old) { return static_cast<T>(old & value); });
}
template <class T>
inline T atomicCAS(T* address, std::common_type_t<T> compare, std::common_type_t<T> value) {
  return bn_simt::atomic(address, [=](T old) { return old == compare ? value : old; });
}
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return bn_simt::atomic(address, [=](unsigned old) { return old >= limit ? 0u : old + 1; });
}

// ---- arithmetic -----------------------------------------------------------------------------------------------

inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fsub_rn(float a, float b) {
  return a - b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fmaf_rn(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dsub_rn(double a, double b) {
  return a - b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}
inline double __fma_rn(double a, double b, double c) {
  return std::fma(a, b, c);
}
inline double __ddiv_rn(double a, double b) {
  return a / b;
}
inline double __dsqrt_rn(double a) {
  return std::sqrt(a);
}
inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}

template <class T>
inline T __ldg(const T* address) {
  return *static_cast<const T*>(bn_simt_note_load(address, sizeof(T)));
}
