// What a thread is doing, on the timeline of NVIDIA's profilers (NVTX): next to nothing while none of them watches.
#pragma once

// A toolkit has it; the compiler that CMake fetches from the Python package index comes without.
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define BN_NVTX 1
#endif

namespace bn::cuda {

// Until the end of the scope.
class ProfilerRange {
 public:
#if defined(BN_NVTX)
  explicit ProfilerRange(const char* name) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  ~ProfilerRange() { nvtxDomainRangePop(domain()); }
#else
  explicit ProfilerRange(const char*) {}
#endif
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;

#if defined(BN_NVTX)
 private:
  static nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t ours = nvtxDomainCreateA("bn_api");
    return ours;
  }
#endif
};

}  // namespace bn::cuda
