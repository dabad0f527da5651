// Allocation, copies and sets.
#include <cstring>

#include "engine.h"
#include "memory.h"

namespace bn_simt {
namespace {

bool is_device(const Range& range) {
  return range.space == Space::kDevice;
}

bool contains(const Range& range, const void* address, size_t size_bytes) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(address);
  return size_bytes <= range.end - first;
}

unsigned char* bytes_at(const void* address) {
  return reinterpret_cast<unsigned char*>(reinterpret_cast<uintptr_t>(address) +
                                          find_range(address).to_bytes);
}

cudaError_t check_copy(void* dst, const void* src, size_t size_bytes, cudaMemcpyKind kind) {
  const Range to = find_range(dst);
  const Range from = find_range(src);
  struct Side {
    const char* name;
    const void* address;
    const Range& range;
    bool device_wanted, host_wanted;
  };
  const bool any = kind == cudaMemcpyDefault;
  const Side sides[] = {
      {"destination", dst, to, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice,
       kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost},
      {"source", src, from, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice,
       kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost},
  };
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return refuse(cudaErrorInvalidMemcpyDirection, "copy of kind %d", kind);
  for (const Side& side : sides) {
    if (side.address == nullptr) return refuse(cudaErrorInvalidValue, "copy: the %s is null", side.name);
    if (side.range.space == Space::kUnknown && in_device_arena(side.address)) {
      return refuse(cudaErrorInvalidValue, "copy: the %s %p is outside every live allocation of a device",
                    side.name, side.address);
    }
    if (!any && side.device_wanted && !is_device(side.range))
      return refuse(cudaErrorInvalidValue, "copy: the %s %p is not memory of a device", side.name,
                    side.address);
    if (!any && side.host_wanted && is_device(side.range))
      return refuse(cudaErrorInvalidValue, "copy: the %s %p is memory of a device", side.name, side.address);
    if (side.range.space != Space::kUnknown && !contains(side.range, side.address, size_bytes)) {
      return refuse(cudaErrorInvalidValue, "copy: %zu bytes at the %s %p run past the end of its allocation",
                    size_bytes, side.name, side.address);
    }
  }
  return cudaSuccess;
}

// Memory may have been freed between the call and the work; the caller sees that as a device would show it.
cudaError_t copy_now(void* dst, const void* src, size_t size_bytes) {
  if (check_copy(dst, src, size_bytes, cudaMemcpyDefault) != cudaSuccess) return cudaErrorIllegalAddress;
  memmove(bytes_at(dst), bytes_at(src), size_bytes);
  return cudaSuccess;
}

cudaError_t enqueue_copy(Lock& lock, cudaStream_t handle, void* dst, const void* src, size_t size_bytes,
                         cudaMemcpyKind kind, bool wait) {
  cudaStream_t stream = find_stream(handle);
  if (stream == nullptr) return refuse(cudaErrorInvalidResourceHandle, "not a stream");
  if (wait) {
    if (const cudaError_t error = check_not_capturing()) return error;
  }
  if (size_bytes == 0) return cudaSuccess;
  if (const cudaError_t error = check_copy(dst, src, size_bytes, kind)) return error;
  const bool pageable_source = find_range(src).space == Space::kUnknown;
  const bool pageable_target = find_range(dst).space == Space::kUnknown;
  if (pageable_source && !stream->capture) {
    // Ordinary memory is copied aside before the call returns.
    auto aside = std::make_shared<std::vector<unsigned char>>(
        static_cast<const unsigned char*>(src), static_cast<const unsigned char*>(src) + size_bytes);
    enqueue(stream, [=] { return copy_now(dst, aside->data(), size_bytes); });
  } else {
    enqueue(stream, [=] { return copy_now(dst, src, size_bytes); });
  }
  // A copy to ordinary memory is complete when the call returns.
  if (!stream->capture && (wait || pageable_target)) {
    const OpPtr last = stream->last;
    return complete(lock, last);
  }
  return cudaSuccess;
}

cudaError_t enqueue_set(cudaStream_t handle, void* memory, int value, size_t size_bytes) {
  cudaStream_t stream = find_stream(handle);
  if (stream == nullptr) return refuse(cudaErrorInvalidResourceHandle, "not a stream");
  if (size_bytes == 0) return cudaSuccess;
  const Range range = find_range(memory);
  if (range.space == Space::kUnknown)
    return refuse(cudaErrorInvalidValue, "set: %p is not memory of a device", memory);
  if (!contains(range, memory, size_bytes))
    return refuse(cudaErrorInvalidValue, "set: %zu bytes at %p run past the end", size_bytes, memory);
  return enqueue(stream, [=] {
    const Range now = find_range(memory);
    if (now.space == Space::kUnknown || !contains(now, memory, size_bytes)) return cudaErrorIllegalAddress;
    memset(bytes_at(memory), value, size_bytes);
    return cudaSuccess;
  });
}

cudaError_t allocate_checked(Space space, void** memory, size_t size_bytes) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_not_capturing()) return error;
  *memory = nullptr;
  if (size_bytes == 0) return cudaSuccess;
  *memory = allocate(space, current_device(), size_bytes);
  return *memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

// Freeing waits for the device, as CUDA does.
cudaError_t release_checked(Lock& lock, Space space, void* memory) {
  if (memory == nullptr) return cudaSuccess;
  if (const cudaError_t error = check_not_capturing()) return error;
  const Range range = find_range(memory);
  if (range.space != space) return refuse(cudaErrorInvalidValue, "free: %p was not allocated so", memory);
  if (const cudaError_t error = complete_device(lock, range.device)) return error;
  return release(space, memory) ? cudaSuccess : refuse(cudaErrorInvalidValue, "free: %p is no start", memory);
}

}  // namespace
}  // namespace bn_simt

using namespace bn_simt;

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t size_bytes) {
  return api([=](Lock&) { return allocate_checked(Space::kDevice, memory, size_bytes); });
}

cudaError_t cudaFree(void* memory) {
  return api([=](Lock& lock) { return release_checked(lock, Space::kDevice, memory); });
}

cudaError_t cudaMallocHost(void** memory, size_t size_bytes) {
  return api([=](Lock&) { return allocate_checked(Space::kHost, memory, size_bytes); });
}

cudaError_t cudaHostAlloc(void** memory, size_t size_bytes, unsigned int) {
  return cudaMallocHost(memory, size_bytes);
}

cudaError_t cudaFreeHost(void* memory) {
  return api([=](Lock& lock) { return release_checked(lock, Space::kHost, memory); });
}

// The memory is there at once; only its use is ordered.
cudaError_t cudaMallocAsync(void** memory, size_t size_bytes, cudaStream_t handle) {
  return api([=](Lock&) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return refuse(cudaErrorInvalidResourceHandle, "not a stream");
    if (const cudaError_t error = check_not_captured(stream)) return error;
    return allocate_checked(Space::kDevice, memory, size_bytes);
  });
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t handle) {
  return api([=](Lock&) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return refuse(cudaErrorInvalidResourceHandle, "not a stream");
    if (const cudaError_t error = check_not_captured(stream)) return error;
    if (!is_device(find_range(memory)))
      return refuse(cudaErrorInvalidValue, "free: %p was not allocated", memory);
    return enqueue(stream,
                   [=] { return release(Space::kDevice, memory) ? cudaSuccess : cudaErrorInvalidValue; });
  });
}

cudaError_t cudaHostRegister(void* memory, size_t size_bytes, unsigned int) {
  return api([=](Lock&) {
    if (memory == nullptr || size_bytes == 0 || in_device_arena(memory)) return cudaErrorInvalidValue;
    return register_host(memory, size_bytes, current_device()) ? cudaSuccess
                                                               : cudaErrorHostMemoryAlreadyRegistered;
  });
}

cudaError_t cudaHostUnregister(void* memory) {
  return api([=](Lock& lock) {
    if (const cudaError_t error = complete_device(lock, current_device())) return error;
    return unregister_host(memory) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return api([=](Lock&) {
    if (free_bytes == nullptr || total_bytes == nullptr) return cudaErrorInvalidValue;
    *total_bytes = kDeviceBytes;
    *free_bytes = kDeviceBytes - device_bytes_in_use(current_device());
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  return api([=](Lock&) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    const Range range = find_range(memory);
    void* address = const_cast<void*>(memory);
    switch (range.space) {
      case Space::kDevice:
        *attributes = {cudaMemoryTypeDevice, range.device, address, nullptr};
        break;
      case Space::kHost:
        *attributes = {cudaMemoryTypeHost, range.device, address, address};
        break;
      case Space::kUnknown:
        *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, nullptr};
        break;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* dst, const void* src, size_t size_bytes, cudaMemcpyKind kind) {
  return api([=](Lock& lock) { return enqueue_copy(lock, nullptr, dst, src, size_bytes, kind, true); });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t size_bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return api([=](Lock& lock) { return enqueue_copy(lock, stream, dst, src, size_bytes, kind, false); });
}

cudaError_t cudaMemset(void* memory, int value, size_t size_bytes) {
  return api([=](Lock&) {
    if (const cudaError_t error = check_not_capturing()) return error;
    return enqueue_set(nullptr, memory, value, size_bytes);
  });
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t size_bytes, cudaStream_t stream) {
  return api([=](Lock&) { return enqueue_set(stream, memory, value, size_bytes); });
}
}
