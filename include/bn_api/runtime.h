/* Start-up, devices, memory, streams and events.
 *
 * Devices are numbered: CUDA devices first, the CPU last; without a GPU, device 0 is the CPU. BNAPI_DEVICES
 * (cpu, cuda, or a comma-separated list such as "cuda:1,cpu") restricts and orders the set.
 * A thread that never called bnapiSetDevice works on device 0. Every function may be called from any thread.
 * A stream of NULL means the current device's default stream.
 * Runtime functions return the numeric codes of the ACL runtime (types.h); the first reason that applies is
 * reported, and bnapiGetRecentErrMsg() says which argument it was.
 */
#ifndef BN_API_RUNTIME_H_
#define BN_API_RUNTIME_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- start-up and diagnosis ---------------------------------------------------------------------- */

/* Starts the library; optional, since everything starts itself on first use. `config_path` may be NULL or "";
 * a file that is named must be readable (BNAPI_ERR_INVALID_FILE) and is otherwise ignored.
 * A second call without bnapiFinalize between returns BNAPI_ERR_REPEAT_INITIALIZE and changes nothing. */
BNAPI_EXPORT bnapiStatus bnapiInit(const char* config_path);

/* Waits for all queued work, then releases every stream, event, executor, tensor, scalar and array that is
 * still alive: their handles are dead afterwards. Memory from bnapiMalloc stays valid until bnapiFree.
 * The library can be used again at once. Twice without bnapiInit between: BNAPI_ERR_REPEAT_FINALIZE. */
BNAPI_EXPORT bnapiStatus bnapiFinalize(void);

/* The sentence that goes with this thread's latest failure: operator, parameter, what came, what is allowed.
 * "" if nothing failed on this thread; never NULL. Valid until the thread's next failing call. */
BNAPI_EXPORT const char* bnapiGetRecentErrMsg(void);

/* The name of a status code, e.g. "BNAPI_ERR_PARAM_INVALID"; "unknown status" for others. Static. */
BNAPI_EXPORT const char* bnapiStatusName(bnapiStatus status);

/* The version of the library that is loaded (not of the header). Null pointers are skipped. */
BNAPI_EXPORT bnapiStatus bnapiGetVersion(int32_t* major, int32_t* minor, int32_t* patch);

/* One line about this build and machine: version, backends, instruction sets built in and the one in use,
 * threads. Static; never NULL. */
BNAPI_EXPORT const char* bnapiGetBuildInfo(void);

/* The CPU instruction set in use: "avx512", "avx2" or "baseline". BNAPI_ISA forces a lower one. Static. */
BNAPI_EXPORT const char* bnapiGetIsa(void);

/* Threads that CPU work may use: BNAPI_NUM_THREADS, else OMP_NUM_THREADS, else the affinity mask. */
BNAPI_EXPORT int32_t bnapiGetNumThreads(void);

/* Changes that number (1 or more; above 4096 counts as 4096) for work started from now on; results do not
 * depend on it. */
BNAPI_EXPORT bnapiStatus bnapiSetNumThreads(int32_t threads);

/* ---- devices --------------------------------------------------------------------------------------- */

typedef enum bnapiDeviceType { BNAPI_DEVICE_CPU = 0, BNAPI_DEVICE_CUDA = 1 } bnapiDeviceType;

BNAPI_EXPORT bnapiStatus bnapiGetDeviceCount(uint32_t* count);
BNAPI_EXPORT bnapiStatus bnapiSetDevice(int32_t device);
BNAPI_EXPORT bnapiStatus bnapiGetDevice(int32_t* device);
BNAPI_EXPORT bnapiStatus bnapiGetDeviceType(int32_t device, bnapiDeviceType* type);
/* The number a device has in its own backend (the CUDA ordinal); 0 for the CPU. */
BNAPI_EXPORT bnapiStatus bnapiGetDeviceOrdinal(int32_t device, int32_t* ordinal);
/* The device's name, e.g. "cpu (avx512, 2 threads)". Static; "" for a bad id. */
BNAPI_EXPORT const char* bnapiGetDeviceName(int32_t device);
/* Waits for everything queued on the current device and returns its first asynchronous error. */
BNAPI_EXPORT bnapiStatus bnapiSynchronizeDevice(void);
/* Bytes free and in all on the current device. */
BNAPI_EXPORT bnapiStatus bnapiGetMemInfo(size_t* free_bytes, size_t* total_bytes);

/* ---- memory ---------------------------------------------------------------------------------------- */

typedef enum bnapiMemcpyKind {
  BNAPI_MEMCPY_HOST_TO_HOST = 0,
  BNAPI_MEMCPY_HOST_TO_DEVICE = 1,
  BNAPI_MEMCPY_DEVICE_TO_HOST = 2,
  BNAPI_MEMCPY_DEVICE_TO_DEVICE = 3,
  BNAPI_MEMCPY_DEFAULT = 4 /* the kind is a hint everywhere: the addresses decide */
} bnapiMemcpyKind;

/* Memory of the current device, 64-byte aligned, content undefined. size 0 or a null `ptr`:
 * BNAPI_ERR_INVALID_PARAM; no memory: BNAPI_ERR_RT_MEMORY_ALLOCATION. */
BNAPI_EXPORT bnapiStatus bnapiMalloc(void** ptr, size_t size_bytes);
/* Frees what bnapiMalloc gave, after the work queued on its device is done. NULL: BNAPI_ERR_INVALID_PARAM;
 * an address that is not (or no longer) ours: BNAPI_ERR_RT_PARAM_INVALID. */
BNAPI_EXPORT bnapiStatus bnapiFree(void* ptr);
/* Host memory that the current device copies from and to fastest (pinned for CUDA). Rules as above. */
BNAPI_EXPORT bnapiStatus bnapiMallocHost(void** ptr, size_t size_bytes);
BNAPI_EXPORT bnapiStatus bnapiFreeHost(void* ptr);

/* Copies `count` bytes and returns when they have arrived. Checked in this order: count 0 succeeds; null
 * pointers and unknown kinds BNAPI_ERR_INVALID_PARAM; count > dest_max BNAPI_ERR_RT_PARAM_INVALID. */
BNAPI_EXPORT bnapiStatus bnapiMemcpy(void* dst, size_t dest_max, const void* src, size_t count,
                                     bnapiMemcpyKind kind);
/* The same, in the stream's order. Pageable host memory may be read before the call returns. */
BNAPI_EXPORT bnapiStatus bnapiMemcpyAsync(void* dst, size_t dest_max, const void* src, size_t count,
                                          bnapiMemcpyKind kind, bnapiStream stream);
/* Sets `count` bytes to the low byte of `value`. Checks as for bnapiMemcpy. */
BNAPI_EXPORT bnapiStatus bnapiMemset(void* dst, size_t dest_max, int32_t value, size_t count);
BNAPI_EXPORT bnapiStatus bnapiMemsetAsync(void* dst, size_t dest_max, int32_t value, size_t count,
                                          bnapiStream stream);

/* ---- streams: FIFO queues of work, asynchronous on the CPU too ------------------------------------- */

/* A new stream on the current device. */
BNAPI_EXPORT bnapiStatus bnapiCreateStream(bnapiStream* stream);
/* Wraps a cudaStream_t of the current device (CuPy, PyTorch). Destroying the wrapper waits for the whole device
 * and leaves the cudaStream_t alone; its owner may destroy that one first, and then the wrapper can only be
 * destroyed. `native` may be NULL (CUDA's legacy default stream). On the CPU: BNAPI_ERR_RT_FEATURE_NOT_SUPPORT. */
BNAPI_EXPORT bnapiStatus bnapiStreamFromNative(void* native, bnapiStream* stream);
/* The cudaStream_t behind a stream; NULL for CPU streams. */
BNAPI_EXPORT bnapiStatus bnapiStreamGetNative(bnapiStream stream, void** native);
/* Waits for the stream's work, then releases it. NULL: BNAPI_ERR_INVALID_PARAM; dead or foreign:
 * BNAPI_ERR_RT_INVALID_HANDLE. */
BNAPI_EXPORT bnapiStatus bnapiDestroyStream(bnapiStream stream);
/* Waits for the stream's work and returns its first asynchronous error. */
BNAPI_EXPORT bnapiStatus bnapiSynchronizeStream(bnapiStream stream);
/* The same, for at most `timeout_ms` (-1: for ever, 0: look once): BNAPI_ERR_RT_STREAM_SYNC_TIMEOUT. */
BNAPI_EXPORT bnapiStatus bnapiSynchronizeStreamWithTimeout(bnapiStream stream, int32_t timeout_ms);
/* *complete: is everything that was queued done? */
BNAPI_EXPORT bnapiStatus bnapiStreamQuery(bnapiStream stream, bool* complete);
/* Later work of `stream` waits until `event`, as recorded now, has happened. */
BNAPI_EXPORT bnapiStatus bnapiStreamWaitEvent(bnapiStream stream, bnapiEvent event);
/* The device a stream belongs to. */
BNAPI_EXPORT bnapiStatus bnapiStreamGetDevice(bnapiStream stream, int32_t* device);

/* ---- events: points in a stream that can be waited for and timed ----------------------------------- */

BNAPI_EXPORT bnapiStatus bnapiCreateEvent(bnapiEvent* event);
/* May be called while the event is pending. NULL: BNAPI_ERR_INVALID_PARAM. */
BNAPI_EXPORT bnapiStatus bnapiDestroyEvent(bnapiEvent event);
/* Marks the end of the work queued on `stream` so far. Recording again moves the mark. */
BNAPI_EXPORT bnapiStatus bnapiRecordEvent(bnapiEvent event, bnapiStream stream);
/* *complete: has it happened? True for an event never recorded. */
BNAPI_EXPORT bnapiStatus bnapiQueryEvent(bnapiEvent event, bool* complete);
BNAPI_EXPORT bnapiStatus bnapiSynchronizeEvent(bnapiEvent event);
/* At most `timeout_ms` (-1: for ever, 0: look once): BNAPI_ERR_RT_EVENT_SYNC_TIMEOUT. */
BNAPI_EXPORT bnapiStatus bnapiSynchronizeEventWithTimeout(bnapiEvent event, int32_t timeout_ms);
/* Milliseconds from `start` to `end`, both recorded and complete. Unrecorded or pending:
 * BNAPI_ERR_RT_EVENT_TIMESTAMP_INVALID; reversed: BNAPI_ERR_RT_EVENT_TIMESTAMP_REVERSAL. */
BNAPI_EXPORT bnapiStatus bnapiEventElapsedTime(float* elapsed_ms, bnapiEvent start, bnapiEvent end);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_RUNTIME_H_ */
