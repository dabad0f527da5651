// Memory of the emulated devices.
//
// A device address is a place in a reserved range that nobody may touch; the bytes are elsewhere, and only the
// emulator knows where. So host code that reads device memory, and a kernel that reads it without the watched
// accesses, stop with a segmentation fault, and every other access is checked against the allocations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bn_simt.h"

namespace bn_simt {

enum class Space { kUnknown, kHost, kDevice };  // kUnknown: ordinary memory of the host

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  intptr_t to_bytes = 0;  // add to an address to get to the bytes
  Space space = Space::kUnknown;
  int device = -1;
  bool registered = false;  // pinned by cudaHostRegister: not ours to free
};

// All of these are called with the engine locked.

// Filled with 0xFF, a NaN in every type. Null if there is no room.
void* allocate(Space space, int device, size_t size_bytes);
// False if the address is not the start of an allocation of this space.
bool release(Space space, void* memory);
bool register_host(void* memory, size_t size_bytes, int device);
bool unregister_host(void* memory);

// The allocation that contains `address`, or one of kUnknown.
Range find_range(const void* address);
// May the address be in device memory, live or not?
bool in_device_arena(const void* address);
size_t device_bytes_in_use(int device);

inline constexpr size_t kDeviceBytes = size_t{80} << 30;
inline constexpr int kPoison = 0xFF;

}  // namespace bn_simt
