// The part of the CUDA runtime's host interface that the emulator offers, under CUDA's own names and values.
//
// Work in streams is deferred: it runs when something waits for it, in stream order, so a program that forgets to
// wait sees that at once. Limits and properties are an H100's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vector_types.h"

#define CUDART_VERSION 13000
#define BN_SIMT_API __attribute__((visibility("default")))

// X(name, value, text)
#define BN_SIMT_ERRORS(X)                                                                                   \
  X(cudaSuccess, 0, "no error")                                                                             \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                           \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                          \
  X(cudaErrorInitializationError, 3, "initialization error")                                                \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                     \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                               \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")        \
  X(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")                   \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                          \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                           \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                  \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")       \
  X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                  \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                         \
  X(cudaErrorNotReady, 600, "device not ready")                                                             \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                               \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                          \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                 \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                                   \
  X(cudaErrorHostMemoryAlreadyRegistered, 712,                                                              \
    "part or all of the requested memory range is already mapped")                                          \
  X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")     \
  X(cudaErrorHardwareStackError, 714, "hardware stack error")                                               \
  X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                             \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                                  \
  X(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")            \
  X(cudaErrorInvalidPc, 718, "invalid program counter")                                                     \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                              \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                                  \
  X(cudaErrorNotSupported, 801, "operation not supported")                                                  \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")             \
  X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")      \
  X(cudaErrorStreamCaptureUnmatched, 903, "the capture was not initiated in this stream")                   \
  X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                              \
  X(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")        \
  X(cudaErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream") \
  X(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define BN_SIMT_ENUM(name, value, text) name = value,
  BN_SIMT_ERRORS(BN_SIMT_ENUM)
#undef BN_SIMT_ENUM
};
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};

struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef void (*cudaHostFn_t)(void* user_data);

#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(uintptr_t{1}))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(uintptr_t{2}))

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum {
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
  cudaEventInterprocess = 4
};
enum {
  cudaEventRecordDefault = 0,
  cudaEventRecordExternal = 1,
  cudaEventWaitDefault = 0,
  cudaEventWaitExternal = 1
};
enum {
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4
};
enum { cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2 };

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};

struct cudaUUID_t {
  char bytes[16];
};

struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int maxBlocksPerMultiProcessor;
  size_t reservedSharedMemPerBlock;
  int clusterLaunch;
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrClusterLaunch = 120
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 13
};

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8
};

union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned int x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
  int priority;
};

struct cudaLaunchAttribute {
  enum cudaLaunchAttributeID id;
  union cudaLaunchAttributeValue val;
};

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned int numAttrs = 0;
};

extern "C" {

// Errors.
BN_SIMT_API cudaError_t cudaGetLastError(void);
BN_SIMT_API cudaError_t cudaPeekAtLastError(void);
BN_SIMT_API const char* cudaGetErrorName(cudaError_t error);
BN_SIMT_API const char* cudaGetErrorString(cudaError_t error);

// Devices.
BN_SIMT_API cudaError_t cudaDriverGetVersion(int* version);
BN_SIMT_API cudaError_t cudaRuntimeGetVersion(int* version);
BN_SIMT_API cudaError_t cudaGetDeviceCount(int* count);
BN_SIMT_API cudaError_t cudaSetDevice(int device);
BN_SIMT_API cudaError_t cudaGetDevice(int* device);
BN_SIMT_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
BN_SIMT_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
BN_SIMT_API cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device);
BN_SIMT_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
BN_SIMT_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
BN_SIMT_API cudaError_t cudaDeviceSynchronize(void);

// Memory.
BN_SIMT_API cudaError_t cudaMalloc(void** memory, size_t size_bytes);
BN_SIMT_API cudaError_t cudaFree(void* memory);
BN_SIMT_API cudaError_t cudaMallocAsync(void** memory, size_t size_bytes, cudaStream_t stream);
BN_SIMT_API cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream);
BN_SIMT_API cudaError_t cudaMallocHost(void** memory, size_t size_bytes);
BN_SIMT_API cudaError_t cudaHostAlloc(void** memory, size_t size_bytes, unsigned int flags);
BN_SIMT_API cudaError_t cudaFreeHost(void* memory);
BN_SIMT_API cudaError_t cudaHostRegister(void* memory, size_t size_bytes, unsigned int flags);
BN_SIMT_API cudaError_t cudaHostUnregister(void* memory);
BN_SIMT_API cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
BN_SIMT_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory);
BN_SIMT_API cudaError_t cudaMemcpy(void* dst, const void* src, size_t size_bytes, cudaMemcpyKind kind);
BN_SIMT_API cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t size_bytes, cudaMemcpyKind kind,
                                        cudaStream_t stream = nullptr);
BN_SIMT_API cudaError_t cudaMemset(void* memory, int value, size_t size_bytes);
BN_SIMT_API cudaError_t cudaMemsetAsync(void* memory, int value, size_t size_bytes,
                                        cudaStream_t stream = nullptr);

// Streams.
BN_SIMT_API cudaError_t cudaStreamCreate(cudaStream_t* stream);
BN_SIMT_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
BN_SIMT_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
BN_SIMT_API cudaError_t cudaStreamDestroy(cudaStream_t stream);
BN_SIMT_API cudaError_t cudaStreamQuery(cudaStream_t stream);
BN_SIMT_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
BN_SIMT_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
BN_SIMT_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
BN_SIMT_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device);
BN_SIMT_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data);

// Events.
BN_SIMT_API cudaError_t cudaEventCreate(cudaEvent_t* event);
BN_SIMT_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
BN_SIMT_API cudaError_t cudaEventDestroy(cudaEvent_t event);
BN_SIMT_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
BN_SIMT_API cudaError_t cudaEventQuery(cudaEvent_t event);
BN_SIMT_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
BN_SIMT_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// Capture and graphs.
BN_SIMT_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
BN_SIMT_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
BN_SIMT_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
BN_SIMT_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode);
BN_SIMT_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
BN_SIMT_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                             unsigned long long flags = 0);
BN_SIMT_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
BN_SIMT_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
BN_SIMT_API cudaError_t cudaGraphDestroy(cudaGraph_t graph);

// Kernels. Launches go through bn_simt_launch (bn_simt.h).
BN_SIMT_API cudaError_t bn_simt_func_set_attribute(const void* kernel, cudaFuncAttribute attribute,
                                                   int value);
BN_SIMT_API cudaError_t bn_simt_max_active_blocks(int* blocks, int threads, size_t dynamic_shared_bytes);
}

template <class Kernel>
inline cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  return bn_simt_func_set_attribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

template <class Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int threads,
                                                                 size_t dynamic_shared_bytes) {
  return bn_simt_max_active_blocks(blocks, threads, dynamic_shared_bytes);
}

template <class T>
inline cudaError_t cudaMalloc(T** memory, size_t size_bytes) {
  return cudaMalloc(reinterpret_cast<void**>(memory), size_bytes);
}
template <class T>
inline cudaError_t cudaMallocHost(T** memory, size_t size_bytes) {
  return cudaMallocHost(reinterpret_cast<void**>(memory), size_bytes);
}
