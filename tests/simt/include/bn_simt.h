// What the emulator offers beyond CUDA's own names: launches, watched memory accesses, and control for tests.
#pragma once

#include <functional>

#include "cuda_runtime_api.h"

// ---- for the backend's device.h ------------------------------------------------------------------------------

// Runs `body` as every thread of the launch, in the order of the stream in `config`. `kernel` identifies the
// kernel for cudaFuncSetAttribute, `name` in messages and in the report. `body` owns copies of the arguments.
BN_SIMT_API cudaError_t bn_simt_launch(const cudaLaunchConfig_t* config, const char* name, const void* kernel,
                                       std::function<void()> body);

// Every access of a kernel to global memory passes through these. They stop the kernel if the address is not a
// multiple of the size or lies outside live memory of the device, count what a warp touches, and return where the
// bytes are: device addresses themselves cannot be read by the host.
extern "C" BN_SIMT_API void* bn_simt_access(const void* address, size_t size_bytes, bool is_store);

__attribute__((always_inline)) inline const void* bn_simt_note_load(const void* address, size_t size_bytes) {
  return bn_simt_access(address, size_bytes, false);
}
__attribute__((always_inline)) inline void* bn_simt_note_store(void* address, size_t size_bytes) {
  return bn_simt_access(address, size_bytes, true);
}

// The block's dynamic shared memory, aligned to 16 bytes and no more.
extern "C" BN_SIMT_API unsigned char* bn_simt_dynamic_shared();

// ---- for tests -----------------------------------------------------------------------------------------------

extern "C" {
// "order", "reversed" or "random:SEED": the order of threads between barriers, and of blocks. The environment
// variable BNAPI_SIMT_SCHEDULE sets it at start. False if the text is none of these.
BN_SIMT_API bool bn_simt_set_schedule(const char* schedule);
// Run at most this many blocks of each launch, spread over the grid; 0: all. Kernels whose name starts with `except`
// are run whole; null: none are. Results are then wrong: for counting only. The environment variable BNAPI_SIMT_SAMPLE
// sets the number at start.
BN_SIMT_API void bn_simt_set_sample(unsigned blocks, const char* except);
// Count the memory accesses of launches from now on. On at start if BNAPI_SIMT_REPORT names a file, where the
// report is written at exit.
BN_SIMT_API void bn_simt_set_counting(bool on);
// The counts since the last reset, as JSON; valid until the next call from this thread.
BN_SIMT_API const char* bn_simt_report();
BN_SIMT_API void bn_simt_reset_report();
// What went wrong last, in words: the text of a stopped kernel or of a refused call. Empty if nothing did.
BN_SIMT_API const char* bn_simt_last_message();
// Forgets errors, work in flight and captures, as a new process would. Memory stays.
BN_SIMT_API void bn_simt_reset();
// Stopped kernels are reported on stderr, too, unless this is false.
BN_SIMT_API void bn_simt_set_loud(bool on);
}
