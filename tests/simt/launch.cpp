// Launches, and the limits and properties of the device: an H100's.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "block.h"
#include "engine.h"
#include "memory.h"

namespace bn_simt {
namespace {

constexpr int kMultiprocessors = 132;
constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxBlockZ = 64;
constexpr unsigned kMaxGridX = 2147483647;
constexpr unsigned kMaxGridYZ = 65535;
constexpr int kMaxBlocksPerMultiprocessor = 32;
constexpr int kMaxThreadsPerMultiprocessor = 2048;
constexpr int kRegisters = 65536;
constexpr int kRegistersAssumed = 40;  // a thread's: g++ cannot say
constexpr size_t kSharedBytes = 48 << 10;
constexpr int kSharedKilobytesOptin = 227;
constexpr size_t kSharedBytesReserved = 1 << 10;  // of each block
constexpr int kL2Bytes = 50 << 20;
constexpr unsigned kPortableCluster = 8;
constexpr unsigned kLargestCluster = 16;

// BNAPI_SIMT_SHARED: kilobytes that a block can ask for, on chips with less than an H100.
size_t shared_bytes_optin() {
  static const size_t bytes = [] {
    const char* text = getenv("BNAPI_SIMT_SHARED");
    if (text == nullptr) return size_t{kSharedKilobytesOptin} << 10;
    const int kilobytes = atoi(text);
    if (kilobytes < static_cast<int>(kSharedBytes >> 10) || kilobytes > kSharedKilobytesOptin) {
      fprintf(stderr, "bn_simt: BNAPI_SIMT_SHARED=%s: %zu to %d kilobytes\n", text, kSharedBytes >> 10,
              kSharedKilobytesOptin);
      abort();
    }
    return static_cast<size_t>(kilobytes) << 10;
  }();
  return bytes;
}

size_t shared_bytes_per_multiprocessor() {
  return shared_bytes_optin() + kSharedBytesReserved;
}

struct KernelLimits {
  size_t dynamic_shared_bytes = kSharedBytes;
  unsigned cluster = kPortableCluster;
};

// By kernel and device.
KernelLimits& limits_of(const void* kernel, int device) {
  static auto& instance = *new std::map<std::pair<const void*, int>, KernelLimits>;
  return instance[{kernel, device}];
}

cudaError_t check_shape(const Launch& launch, const KernelLimits& limits) {
  const dim3& g = launch.grid;
  const dim3& b = launch.block;
  const dim3& c = launch.cluster;
  if (g.x == 0 || g.y == 0 || g.z == 0 || g.x > kMaxGridX || g.y > kMaxGridYZ || g.z > kMaxGridYZ) {
    return refuse(cudaErrorInvalidConfiguration, "kernel %s: a grid of %u x %u x %u blocks", launch.name, g.x,
                  g.y, g.z);
  }
  if (b.x == 0 || b.y == 0 || b.z == 0 || b.x > kMaxThreads || b.y > kMaxThreads || b.z > kMaxBlockZ ||
      uint64_t{b.x} * b.y * b.z > kMaxThreads) {
    return refuse(cudaErrorInvalidConfiguration, "kernel %s: a block of %u x %u x %u threads", launch.name,
                  b.x, b.y, b.z);
  }
  if (launch.shared_bytes > limits.dynamic_shared_bytes) {
    return refuse(cudaErrorInvalidValue, "kernel %s: %zu bytes of shared memory, %zu allowed", launch.name,
                  launch.shared_bytes, limits.dynamic_shared_bytes);
  }
  const uint64_t cluster = uint64_t{c.x} * c.y * c.z;
  if (cluster == 0 || cluster > limits.cluster || g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0) {
    return refuse(cudaErrorInvalidConfiguration,
                  "kernel %s: clusters of %u x %u x %u in a grid of %u x %u x %u", launch.name, c.x, c.y, c.z,
                  g.x, g.y, g.z);
  }
  return cudaSuccess;
}

cudaError_t run(const Launch& launch) {
  std::string message;
  const cudaError_t error = run_launch(launch, &message);
  if (error != cudaSuccess) {
    engine().message = message;
    if (engine().loud) fprintf(stderr, "bn_simt: %s\n", message.c_str());
  }
  return error;
}

cudaDeviceProp properties_of(int device) {
  cudaDeviceProp p = {};
  snprintf(p.name, sizeof(p.name), "emulated H100");
  p.uuid.bytes[15] = static_cast<char>(device + 1);
  p.totalGlobalMem = kDeviceBytes;
  p.sharedMemPerBlock = kSharedBytes;
  p.sharedMemPerBlockOptin = shared_bytes_optin();
  p.sharedMemPerMultiprocessor = shared_bytes_per_multiprocessor();
  p.reservedSharedMemPerBlock = kSharedBytesReserved;
  p.regsPerBlock = kRegisters;
  p.regsPerMultiprocessor = kRegisters;
  p.warpSize = 32;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = kMaxThreads;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = kMaxThreads;
  p.maxThreadsDim[2] = kMaxBlockZ;
  p.maxGridSize[0] = kMaxGridX;
  p.maxGridSize[1] = p.maxGridSize[2] = kMaxGridYZ;
  p.totalConstMem = 65536;
  p.major = 9;
  p.minor = 0;
  p.textureAlignment = 512;
  p.multiProcessorCount = kMultiprocessors;
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.ECCEnabled = 1;
  p.pciBusID = device + 1;
  p.asyncEngineCount = 3;
  p.unifiedAddressing = 1;
  p.memoryBusWidth = 5120;
  p.l2CacheSize = kL2Bytes;
  p.persistingL2CacheMaxSize = kL2Bytes / 8 * 5;
  p.maxThreadsPerMultiProcessor = kMaxThreadsPerMultiprocessor;
  p.maxBlocksPerMultiProcessor = kMaxBlocksPerMultiprocessor;
  p.streamPrioritiesSupported = 1;
  p.cooperativeLaunch = 1;
  p.clusterLaunch = 1;
  return p;
}

cudaError_t attribute_of(cudaDeviceAttr attribute, const cudaDeviceProp& p, int* value) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxBlockDimZ:
      *value = p.maxThreadsDim[2];
      break;
    case cudaDevAttrMaxGridDimX:
      *value = p.maxGridSize[0];
      break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = p.maxGridSize[1];
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(p.sharedMemPerBlock);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(p.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(p.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = static_cast<int>(p.reservedSharedMemPerBlock);
      break;
    case cudaDevAttrTotalConstantMemory:
      *value = static_cast<int>(p.totalConstMem);
      break;
    case cudaDevAttrWarpSize:
      *value = p.warpSize;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = p.regsPerBlock;
      break;
    case cudaDevAttrClockRate:
      *value = 1980000;
      break;
    case cudaDevAttrMemoryClockRate:
      *value = 2619000;
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = p.memoryBusWidth;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = p.multiProcessorCount;
      break;
    case cudaDevAttrL2CacheSize:
      *value = p.l2CacheSize;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = p.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = p.maxBlocksPerMultiProcessor;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = p.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = p.minor;
      break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      *value = 2;
      break;
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrClusterLaunch:
      *value = 1;
      break;
    case cudaDevAttrIntegrated:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrMemoryPoolsSupported:
      *value = 0;
      break;
    default:
      return refuse(cudaErrorInvalidValue, "device attribute %d is not emulated", attribute);
  }
  return cudaSuccess;
}

bool is_device(int device) {
  return device >= 0 && device < static_cast<int>(engine().devices.size());
}

}  // namespace
}  // namespace bn_simt

using namespace bn_simt;

cudaError_t bn_simt_launch(const cudaLaunchConfig_t* config, const char* name, const void* kernel,
                           std::function<void()> body) {
  return api([&](Lock&) {
    cudaStream_t stream = find_stream(config->stream);
    if (stream == nullptr) return refuse(cudaErrorInvalidResourceHandle, "kernel %s: not a stream", name);
    if (stream->device != current_device()) {
      return refuse(cudaErrorInvalidResourceHandle,
                    "kernel %s: the stream is of device %d, the current device is %d", name, stream->device,
                    current_device());
    }
    Launch launch;
    launch.name = name;
    launch.grid = config->gridDim;
    launch.block = config->blockDim;
    launch.shared_bytes = config->dynamicSmemBytes;
    launch.device = stream->device;
    launch.body = std::move(body);
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = config->attrs[i];
      if (attribute.id != cudaLaunchAttributeClusterDimension) continue;
      launch.cluster =
          dim3(attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z);
    }
    if (const cudaError_t error = check_shape(launch, limits_of(kernel, launch.device))) return error;
    return enqueue(stream, [launch] { return run(launch); });
  });
}

extern "C" {

cudaError_t bn_simt_func_set_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return api([=](Lock&) {
    KernelLimits& limits = limits_of(kernel, current_device());
    switch (attribute) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || static_cast<size_t>(value) > shared_bytes_optin())
          return refuse(cudaErrorInvalidValue, "%d bytes of shared memory: no kernel can have that", value);
        limits.dynamic_shared_bytes = static_cast<size_t>(value);
        break;
      case cudaFuncAttributeNonPortableClusterSizeAllowed:
        limits.cluster = value != 0 ? kLargestCluster : kPortableCluster;
        break;
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        break;
    }
    return cudaSuccess;
  });
}

cudaError_t bn_simt_max_active_blocks(int* blocks, int threads, size_t dynamic_shared_bytes) {
  return api([=](Lock&) {
    if (blocks == nullptr || threads <= 0 || threads > static_cast<int>(kMaxThreads))
      return cudaErrorInvalidValue;
    const int warps = (threads + 31) / 32;
    const size_t shared = shared_bytes_per_multiprocessor() / (dynamic_shared_bytes + kSharedBytesReserved);
    int most = kMaxBlocksPerMultiprocessor;
    most = std::min(most, kMaxThreadsPerMultiprocessor / (warps * 32));
    most = std::min(most, kRegisters / (kRegistersAssumed * warps * 32));
    most = std::min(most, static_cast<int>(shared));
    *blocks = most;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return api([=](Lock&) {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *properties = properties_of(device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return api([=](Lock&) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    return attribute_of(attribute, properties_of(device), value);
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return api([=](Lock&) {
    if (text == nullptr || size < 13) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    snprintf(text, static_cast<size_t>(size), "0000:%02X:00.0", (device + 1) & 0xFF);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([=](Lock&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api([=](Lock&) {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device) || !is_device(peer)) return cudaErrorInvalidDevice;
    *can = 0;
    return cudaSuccess;
  });
}
}
