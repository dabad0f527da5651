// CUDA's error codes as the library's statuses.
#pragma once

#include <cuda_runtime_api.h>

namespace bn::cuda {

// Throws bn::Error unless `error` is success. `what` names the call or kernel for the message.
void check(cudaError_t error, const char* what);

// The same where nothing can be thrown: forgets the error.
void ignore(cudaError_t error) noexcept;

// Makes a device current for a scope, and puts back the one that the caller had.
class DeviceScope {
 public:
  explicit DeviceScope(int ordinal);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = -1;  // -1: nothing to put back
};

}  // namespace bn::cuda
