// Attributes of functions that are compiled several times: once per CPU instruction set, and for the GPU.
//
// BN_INLINE functions are forced inline. An ordinary inline function would be emitted by each instruction set's
// object file, the linker would keep one of the copies, perhaps the AVX-512 one, and a CPU without AVX would run it.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define BN_HOST_DEVICE __host__ __device__
#else
#define BN_HOST_DEVICE
#endif

#define BN_INLINE BN_HOST_DEVICE inline __attribute__((always_inline))
