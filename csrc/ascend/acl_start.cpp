// acl/acl.h and the functions of acl/acl_base.h: start, end, versions, error text, half precision.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"
#include "ascend/forward.h"
#include "math/dtype.h"

namespace {

template <size_t kSize>
void set_text(char (&field)[kSize], const char* text) {
  snprintf(field, kSize, "%s", text);
}

}  // namespace

extern "C" {

aclError aclInit(const char* configPath) {
  AscendCall call(__func__);
  return call.done(bnapiInit(configPath));
}

aclError aclFinalize() {
  AscendCall call(__func__);
  return call.done(bnapiAscendFinalize());
}

const char* aclGetRecentErrMsg() {
  return bnapiAscendTakeErrorText();
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  AscendCall call(__func__);
  if (majorVersion == nullptr || minorVersion == nullptr || patchVersion == nullptr) {
    return call.fail(ACL_ERROR_INVALID_PARAM, "a version pointer is null");
  }
  *majorVersion = ACL_MAJOR_VERSION;
  *minorVersion = ACL_MINOR_VERSION;
  *patchVersion = ACL_PATCH_VERSION;
  return ACL_SUCCESS;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  AscendCall call(__func__);
  if (version == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "version: null");
  if (name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER) {
    return call.fail(ACL_ERROR_INVALID_PARAM, "name: not an aclCANNPackageName");
  }
  // The release whose headers this layer is compatible with.
  *version = aclCANNPackageVersion();
  set_text(version->version, "8.1.RC1");
  set_text(version->majorVersion, "8");
  set_text(version->minorVersion, "1");
  set_text(version->releaseVersion, "RC1");
  return ACL_SUCCESS;
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  AscendCall call(__func__);
  if (cannAttrList == nullptr || num == nullptr)
    return call.fail(ACL_ERROR_INVALID_PARAM, "a pointer is null");
  static const aclCannAttr kAttributes[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16};
  *cannAttrList = kAttributes;
  *num = sizeof(kAttributes) / sizeof(kAttributes[0]);
  return ACL_SUCCESS;
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  AscendCall call(__func__);
  if (value == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "value: null");
  switch (cannAttr) {
    case ACL_CANN_ATTR_INF_NAN:
    case ACL_CANN_ATTR_BF16:
      *value = 1;
      return ACL_SUCCESS;
    case ACL_CANN_ATTR_JIT_COMPILE:
      *value = 0;
      return ACL_SUCCESS;
    default:
      return call.fail(ACL_ERROR_INVALID_PARAM, "cannAttr: not an aclCannAttr");
  }
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  AscendCall call(__func__);
  if (value == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "value: null");
  const int32_t status = bnapiAscendCheckDevice(static_cast<int32_t>(deviceId));
  if (status != ACL_SUCCESS) return call.done(status);
  switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      *value = bnapiGetNumThreads();
      return ACL_SUCCESS;
    case ACL_DEVICE_INFO_L2_SIZE:
      *value = 0;
      return ACL_SUCCESS;
    default:
      return call.fail(ACL_ERROR_INVALID_PARAM, "deviceInfo: not an aclDeviceInfo");
  }
}

const char* aclrtGetSocName() {
  // Clients make a std::string of it or search it for a family they know.
  const char* chosen = getenv("BNAPI_SOC_NAME");
  return chosen != nullptr && *chosen != '\0' ? chosen : "Ascend910B1";
}

void aclAppLog(aclLogLevel, const char*, const char*, uint32_t, const char*, ...) {}

float aclFloat16ToFloat(aclFloat16 value) {
  return bn::widen(bn::Half{value});
}

aclFloat16 aclFloatToFloat16(float value) {
  return bn::narrow<bn::Half>(value).bits;
}

size_t aclDataTypeSize(aclDataType dataType) {
  return bnapiDataTypeSize(neutral(dataType));
}

}  // extern "C"
