// acl/acl_rt.h: memory and copies.

#include "acl/acl_rt.h"
#include "ascend/forward.h"

namespace {

constexpr size_t kGranule = 32;  // the vendor's unit of allocation, and what it leaves behind every block

// `spare`: with a granule to spare, so that kernels written for the vendor may read past the end.
aclError allocate(const AscendCall& call, void** devPtr, size_t size, bool spare) {
  if (devPtr == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "devPtr: null");
  if (size == 0) return call.fail(ACL_ERROR_INVALID_PARAM, "size: 0; expected 1 or more");
  if (size > SIZE_MAX - 2 * kGranule)
    return call.fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "size: more than there can be");
  const size_t rounded = (size + kGranule - 1) / kGranule * kGranule;
  return call.done(bnapiMalloc(devPtr, rounded + (spare ? kGranule : 0)));
}

bool is_bad(const aclrtMallocConfig* cfg) {
  return cfg != nullptr && cfg->attrs == nullptr && cfg->numAttrs > 0;
}

// The checks of a copy, in the vendor's order. False: `*status` is the answer already.
bool check_copy(const AscendCall& call, const void* dst, size_t destMax, const void* src, size_t count,
                aclrtMemcpyKind kind, aclError* status) {
  *status = ACL_SUCCESS;
  if (count == 0) return false;
  if (dst == nullptr) {
    *status = call.fail(ACL_ERROR_INVALID_PARAM, "dst: null");
  } else if (src == nullptr) {
    *status = call.fail(ACL_ERROR_INVALID_PARAM, "src: null");
  } else if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
    *status = call.fail(ACL_ERROR_INVALID_PARAM, "kind: not a supported aclrtMemcpyKind");
  } else if (destMax < count) {
    *status = call.fail(ACL_ERROR_RT_PARAM_INVALID, "count: more than destMax");
  } else {
    *status = call.done(bnapiAscendRequireContext());
  }
  return *status == ACL_SUCCESS;
}

// The same for copies of `height` rows.
bool check_copy_2d(const AscendCall& call, const void* dst, size_t dpitch, const void* src, size_t spitch,
                   size_t width, size_t height, aclrtMemcpyKind kind, aclError* status) {
  *status = ACL_SUCCESS;
  if (width == 0 || height == 0) return false;
  if (dst == nullptr || src == nullptr) {
    *status = call.fail(ACL_ERROR_INVALID_PARAM, "dst or src: null");
  } else if (kind < ACL_MEMCPY_HOST_TO_DEVICE || kind > ACL_MEMCPY_DEFAULT) {
    *status = call.fail(ACL_ERROR_INVALID_PARAM, "kind: not a supported aclrtMemcpyKind");
  } else if (width > dpitch || width > spitch) {
    *status = call.fail(ACL_ERROR_INVALID_PARAM, "width: more than dpitch or spitch");
  } else {
    *status = call.done(bnapiAscendRequireContext());
  }
  return *status == ACL_SUCCESS;
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return allocate(AscendCall(__func__), devPtr, size, true);
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return allocate(AscendCall(__func__), devPtr, size, false);
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return allocate(AscendCall(__func__), devPtr, size, true);
}

aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy, aclrtMallocConfig* cfg) {
  AscendCall call(__func__);
  if (is_bad(cfg)) return call.fail(ACL_ERROR_INVALID_PARAM, "cfg: attrs is null with numAttrs above 0");
  return allocate(call, devPtr, size, true);
}

// There is no cache between host and device to flush.
aclError aclrtMemFlush(void* devPtr, size_t size) {
  AscendCall call(__func__);
  if (devPtr == nullptr || size == 0) return call.fail(ACL_ERROR_INVALID_PARAM, "devPtr: null, or size: 0");
  return ACL_SUCCESS;
}

aclError aclrtMemInvalidate(void* devPtr, size_t size) {
  AscendCall call(__func__);
  if (devPtr == nullptr || size == 0) return call.fail(ACL_ERROR_INVALID_PARAM, "devPtr: null, or size: 0");
  return ACL_SUCCESS;
}

aclError aclrtFree(void* devPtr) {
  AscendCall call(__func__);
  return call.done(bnapiFree(devPtr));
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  AscendCall call(__func__);
  return call.done(bnapiMallocHost(hostPtr, size));
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  AscendCall call(__func__);
  if (is_bad(cfg)) return call.fail(ACL_ERROR_INVALID_PARAM, "cfg: attrs is null with numAttrs above 0");
  return call.done(bnapiMallocHost(ptr, size));
}

aclError aclrtFreeHost(void* hostPtr) {
  AscendCall call(__func__);
  return call.done(bnapiFreeHost(hostPtr));
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free, size_t* total) {
  AscendCall call(__func__);
  return call.done(bnapiGetMemInfo(free, total));
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  AscendCall call(__func__);
  if (attributes == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "attributes: null");
  int32_t device = -1;
  const int32_t status = bnapiAscendLocate(ptr, &device);
  if (status != ACL_SUCCESS) return call.done(status);
  *attributes = aclrtPtrAttributes();
  attributes->location.type = device < 0 ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE;
  attributes->location.id = device < 0 ? 0 : static_cast<uint32_t>(device);
  return ACL_SUCCESS;
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  AscendCall call(__func__);
  aclError status;
  if (!check_copy(call, dst, destMax, src, count, kind, &status)) return status;
  return call.done(bnapiMemcpy(dst, destMax, src, count, BNAPI_MEMCPY_DEFAULT));
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  AscendCall call(__func__);
  aclError status;
  if (!check_copy(call, dst, destMax, src, count, kind, &status)) return status;
  return call.done(bnapiMemcpyAsync(dst, destMax, src, count, BNAPI_MEMCPY_DEFAULT, call.stream(stream)));
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
  AscendCall call(__func__);
  aclError status;
  if (!check_copy_2d(call, dst, dpitch, src, spitch, width, height, kind, &status)) return status;
  for (size_t row = 0; row < height && status == ACL_SUCCESS; ++row) {
    status = bnapiMemcpy(static_cast<char*>(dst) + row * dpitch, width,
                         static_cast<const char*>(src) + row * spitch, width, BNAPI_MEMCPY_DEFAULT);
  }
  return call.done(status);
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  AscendCall call(__func__);
  aclError status;
  if (!check_copy_2d(call, dst, dpitch, src, spitch, width, height, kind, &status)) return status;
  for (size_t row = 0; row < height && status == ACL_SUCCESS; ++row) {
    status = bnapiMemcpyAsync(static_cast<char*>(dst) + row * dpitch, width,
                              static_cast<const char*>(src) + row * spitch, width, BNAPI_MEMCPY_DEFAULT,
                              call.stream(stream));
  }
  return call.done(status);
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  AscendCall call(__func__);
  aclError status;
  if (!check_copy(call, devPtr, maxCount, devPtr, count, ACL_MEMCPY_DEFAULT, &status)) return status;
  return call.done(bnapiMemset(devPtr, maxCount, value, count));
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  AscendCall call(__func__);
  aclError status;
  if (!check_copy(call, devPtr, maxCount, devPtr, count, ACL_MEMCPY_DEFAULT, &status)) return status;
  return call.done(bnapiMemsetAsync(devPtr, maxCount, value, count, call.stream(stream)));
}

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType, aclrtStream stream) {
  AscendCall call(__func__);
  if (src == nullptr || size == 0) return call.fail(ACL_ERROR_INVALID_PARAM, "src: null, or size: 0");
  bool complete;
  return call.done(bnapiStreamQuery(call.stream(stream), &complete));
}

}  // extern "C"
