// acl/acl_rt.h: devices, contexts, options, last error.

#include "acl/acl_rt.h"
#include "ascend/forward.h"

namespace {

// Keys of settings that are only kept to be read back; aclSysParamOpt has the numbers from 0 on.
constexpr int32_t kSaturationMode = -1;
constexpr int32_t kOverflowSwitch = 1;

bool is_option(aclSysParamOpt opt) {
  return opt >= ACL_OPT_DETERMINISTIC && opt <= ACL_OPT_KERNEL_EARLY_START;
}

aclError set_option(const AscendCall& call, bool of_context, aclSysParamOpt opt, int64_t value) {
  if (!is_option(opt)) return call.fail(ACL_ERROR_INVALID_PARAM, "opt: not an aclSysParamOpt");
  return call.done(bnapiAscendSetOption(of_context, opt, value));
}

aclError get_option(const AscendCall& call, bool of_context, aclSysParamOpt opt, int64_t* value) {
  if (value == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "value: null");
  if (!is_option(opt)) return call.fail(ACL_ERROR_INVALID_PARAM, "opt: not an aclSysParamOpt");
  return call.done(bnapiAscendGetOption(of_context, opt, 0, value));
}

}  // namespace

extern "C" {

// ---- devices --------------------------------------------------------------------------------------------

aclError aclrtSetDevice(int32_t deviceId) {
  AscendCall call(__func__);
  return call.done(bnapiAscendSetDevice(deviceId));
}

aclError aclrtResetDevice(int32_t deviceId) {
  AscendCall call(__func__);
  return call.done(bnapiAscendResetDevice(deviceId, false));
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  AscendCall call(__func__);
  return call.done(bnapiAscendResetDevice(deviceId, true));
}

aclError aclrtGetDevice(int32_t* deviceId) {
  AscendCall call(__func__);
  return call.done(bnapiAscendGetDevice(deviceId));
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  AscendCall call(__func__);
  return call.done(bnapiAscendGetDeviceCount(count));
}

aclError aclrtSynchronizeDevice() {
  AscendCall call(__func__);
  return call.done(bnapiAscendSynchronizeDevice(-1));
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  AscendCall call(__func__);
  return call.done(bnapiAscendSynchronizeDevice(timeout));
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
  AscendCall call(__func__);
  if (deviceStatus == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "deviceStatus: null");
  const int32_t status = bnapiAscendCheckDevice(deviceId);
  if (status == ACL_SUCCESS) *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
  return call.done(status);
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
  AscendCall call(__func__);
  if (utilizationInfo == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "utilizationInfo: null");
  const int32_t status = bnapiAscendCheckDevice(deviceId);
  if (status == ACL_SUCCESS) {
    utilizationInfo->cubeUtilization = -1;
    utilizationInfo->vectorUtilization = -1;
    utilizationInfo->aicpuUtilization = -1;
    utilizationInfo->memoryUtilization = -1;
  }
  return call.done(status);
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  AscendCall call(__func__);
  if (runMode == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "runMode: null");
  *runMode = ACL_HOST;
  return ACL_SUCCESS;
}

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  AscendCall call(__func__);
  if (canAccessPeer == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "canAccessPeer: null");
  int32_t status = bnapiAscendCheckDevice(deviceId);
  if (status == ACL_SUCCESS) status = bnapiAscendCheckDevice(peerDeviceId);
  if (status == ACL_SUCCESS) *canAccessPeer = 0;
  return call.done(status);
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t) {
  AscendCall call(__func__);
  const int32_t status = bnapiAscendCheckDevice(peerDeviceId);
  if (status != ACL_SUCCESS) return call.done(status);
  return call.fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "devices do not reach each other's memory here");
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  AscendCall call(__func__);
  return call.done(bnapiAscendCheckDevice(peerDeviceId));
}

// ---- contexts -------------------------------------------------------------------------------------------

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  AscendCall call(__func__);
  return call.done(bnapiAscendCreateContext(context, deviceId));
}

aclError aclrtDestroyContext(aclrtContext context) {
  AscendCall call(__func__);
  return call.done(bnapiAscendDestroyContext(context));
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  AscendCall call(__func__);
  return call.done(bnapiAscendSetCurrentContext(context));
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  AscendCall call(__func__);
  return call.done(bnapiAscendGetCurrentContext(context));
}

// ---- options --------------------------------------------------------------------------------------------

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return set_option(AscendCall(__func__), false, opt, value);
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return get_option(AscendCall(__func__), false, opt, value);
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return set_option(AscendCall(__func__), true, opt, value);
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return get_option(AscendCall(__func__), true, opt, value);
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  AscendCall call(__func__);
  if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN) {
    return call.fail(ACL_ERROR_INVALID_PARAM, "mode: expected SATURATION or INFNAN");
  }
  return call.done(bnapiAscendSetOption(false, kSaturationMode, mode));
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  AscendCall call(__func__);
  if (mode == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "mode: null");
  int64_t value = ACL_RT_OVERFLOW_MODE_INFNAN;
  const int32_t status = bnapiAscendGetOption(false, kSaturationMode, value, &value);
  *mode = static_cast<aclrtFloatOverflowMode>(value);
  return call.done(status);
}

aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream) {
  AscendCall call(__func__);
  if (outputAddr == nullptr || outputSize == 0) {
    return call.fail(ACL_ERROR_INVALID_PARAM, "outputAddr: null, or outputSize: 0");
  }
  return call.done(bnapiMemsetAsync(outputAddr, outputSize, 0, outputSize, call.stream(stream)));
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
  AscendCall call(__func__);
  bool complete;
  return call.done(bnapiStreamQuery(call.stream(stream), &complete));
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  AscendCall call(__func__);
  if (flag > 1) return call.fail(ACL_ERROR_INVALID_PARAM, "flag: expected 0 or 1");
  return call.done(bnapiAscendSetStreamNote(call.stream(stream), kOverflowSwitch, flag));
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  AscendCall call(__func__);
  if (flag == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "flag: null");
  uint64_t value = 0;
  const int32_t status = bnapiAscendGetStreamNote(call.stream(stream), kOverflowSwitch, &value);
  if (status == ACL_SUCCESS) *flag = static_cast<uint32_t>(value);
  return call.done(status);
}

// Work here has no time limit of its own.
aclError aclrtSetOpWaitTimeout(uint32_t) {
  return ACL_SUCCESS;
}
aclError aclrtSetOpExecuteTimeOut(uint32_t) {
  return ACL_SUCCESS;
}
aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t) {
  return ACL_SUCCESS;
}
aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback) {
  return ACL_SUCCESS;
}

// ---- last error -----------------------------------------------------------------------------------------

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL)
    return AscendCall(__func__).fail(ACL_ERROR_INVALID_PARAM, "level: not known");
  return bnapiAscendLastError(false);
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL)
    return AscendCall(__func__).fail(ACL_ERROR_INVALID_PARAM, "level: not known");
  return bnapiAscendLastError(true);
}

}  // extern "C"
