#include "backends/cuda/error.h"

#include <string>

#include "core/status.h"

namespace bn::cuda {
namespace {

bnapiStatus status_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return BNAPI_ERR_RT_MEMORY_ALLOCATION;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorDevicesUnavailable:
      return BNAPI_ERR_RT_NO_DEVICE;
    case cudaErrorInvalidDevice:
      return BNAPI_ERR_RT_INVALID_DEVICEID;
    case cudaErrorInvalidResourceHandle:
      return BNAPI_ERR_RT_INVALID_HANDLE;
    case cudaErrorNotSupported:
    case cudaErrorStreamCaptureUnsupported:
      return BNAPI_ERR_RT_FEATURE_NOT_SUPPORT;
    case cudaErrorInvalidValue:
      return BNAPI_ERR_RT_PARAM_INVALID;
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
      return BNAPI_ERR_RT_DEVICE_EXCEPTION;
    case cudaErrorLaunchTimeout:
      return 507014;  // ACL's kernel timeout
    case cudaErrorECCUncorrectable:
      return 507054;  // ACL's memory error
    default:
      return BNAPI_ERR_RT_INTERNAL_ERROR;
  }
}

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  // Non-sticky errors are also kept for cudaGetLastError, where the caller's own code would find them.
  ignore(cudaGetLastError());
  throw Error(status_of(error), std::string("cuda: ") + what + ": " + cudaGetErrorString(error) + " (" +
                                    cudaGetErrorName(error) + ")");
}

void ignore(cudaError_t) noexcept {}

DeviceScope::DeviceScope(int ordinal) {
  int current = -1;
  check(cudaGetDevice(&current), "cudaGetDevice");
  if (current == ordinal) return;
  check(cudaSetDevice(ordinal), "cudaSetDevice");
  before_ = current;
}

DeviceScope::~DeviceScope() {
  if (before_ >= 0) ignore(cudaSetDevice(before_));
}

}  // namespace bn::cuda
