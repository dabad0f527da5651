// Walks the runtime under the acl names: start and end, devices and contexts, memory, streams, events,
// options, errors. Every code and every order of checks is the interface's.

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "check.h"

// A request for more memory than there is shall fail under a sanitizer as it does without.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}

static void* garbage(uintptr_t value) {
  return reinterpret_cast<void*>(value);
}

static void start_and_end() {
  EXPECT_ERROR(ACL_ERROR_INVALID_FILE, aclInit("/does/not/exist.json"));
  EXPECT_OK(aclInit(nullptr));
  EXPECT_ERROR(ACL_ERROR_REPEAT_INITIALIZE, aclInit(""));
  EXPECT_OK(aclFinalize());
  EXPECT_ERROR(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
  EXPECT_OK(aclInit(""));
}

static void texts() {
  EXPECT(aclGetRecentErrMsg() == nullptr);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtFree(nullptr));
  EXPECT_OK(aclrtSetOpWaitTimeout(3));  // success leaves the texts
  const char* text = aclGetRecentErrMsg();
  EXPECT(text != nullptr);
  if (text == nullptr) return;
  const std::string all = text;
  EXPECT(all.find("aclrtMalloc: devPtr: null") != std::string::npos);
  EXPECT(all.find("aclrtFree: ") != std::string::npos);
  EXPECT(all.find("[PID: ") == 0);
  EXPECT(all.back() == '\n');
  EXPECT(aclGetRecentErrMsg() == nullptr);
  // Other threads have their own.
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtFree(nullptr));
  std::thread([] { EXPECT(aclGetRecentErrMsg() == nullptr); }).join();
  EXPECT(aclGetRecentErrMsg() != nullptr);
  // More texts than there is room for: the newest stays.
  for (int i = 0; i < 200; ++i)
    aclrtFree(nullptr);
  aclrtSetDevice(-7);
  text = aclGetRecentErrMsg();
  EXPECT(text != nullptr && strstr(text, "aclrtSetDevice") != nullptr);

  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_OK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
  aclrtFree(nullptr);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
  EXPECT_OK(aclrtGetLastError(ACL_RT_THREAD_LEVEL));
}

// Everything that needs a device, on a thread that has none.
static void without_a_device() {
  int32_t number = 0;
  size_t a = 0, b = 0;
  void* pointer = nullptr;
  char buffer[8] = {};
  int64_t value;
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&number));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&pointer));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&pointer));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateEvent(&pointer));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&pointer, 8, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(nullptr));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetMemInfo(ACL_HBM_MEM, &a, &b));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemset(buffer, 8, 0, 8));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL,
               aclrtMemcpyAsync(buffer, 8, buffer, 8, ACL_MEMCPY_DEFAULT, nullptr));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  // A null out-pointer comes first.
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtGetDevice(nullptr));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(nullptr));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT(pointer == nullptr);
}

static void devices_and_contexts() {
  uint32_t count = 0;
  EXPECT_OK(aclrtGetDeviceCount(&count));
  EXPECT(count >= 1);
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceCount(nullptr));
  EXPECT_ERROR(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(static_cast<int32_t>(count)));
  EXPECT_ERROR(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));

  EXPECT_OK(aclrtSetDevice(0));
  int32_t device = -1;
  EXPECT_OK(aclrtGetDevice(&device));
  EXPECT(device == 0);
  aclrtContext shared = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&shared));
  EXPECT(shared != nullptr);
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyContext(shared));

  // "Current" is per thread, the default context is shared.
  std::thread([&] {
    without_a_device();
    EXPECT_OK(aclrtSetDevice(0));
    aclrtContext mine = nullptr;
    EXPECT_OK(aclrtGetCurrentContext(&mine));
    EXPECT(mine == shared);
    EXPECT_OK(aclrtResetDevice(0));
  }).join();
  EXPECT_OK(aclrtGetDevice(&device));

  aclrtContext own = nullptr;
  EXPECT_OK(aclrtCreateContext(&own, 0));
  aclrtContext now = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&now));
  EXPECT(now == own && own != shared);
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtSetCurrentContext(shared));
  EXPECT_ERROR(ACL_ERROR_RT_STREAM_CONTEXT, aclrtDestroyStream(stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));  // any thread, any context
  EXPECT_OK(aclrtDestroyContext(own));        // and its streams with it
  EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(own));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyContext(own));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(garbage(0x1234)));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtSetCurrentContext(nullptr));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtCreateContext(nullptr, 0));
  EXPECT_ERROR(ACL_ERROR_RT_INVALID_DEVICEID, aclrtCreateContext(&own, 99));

  // The count of sets and resets; the last reset ends the streams too.
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtResetDeviceForce(0));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  EXPECT_OK(aclrtSetDevice(0));

  aclrtRunMode mode;
  EXPECT_OK(aclrtGetRunMode(&mode));
  EXPECT(mode == ACL_HOST);
  aclrtDeviceStatus status;
  EXPECT_OK(aclrtQueryDeviceStatus(0, &status));
  EXPECT(status == ACL_RT_DEVICE_STATUS_NORMAL);
  EXPECT_ERROR(ACL_ERROR_RT_INVALID_DEVICEID, aclrtQueryDeviceStatus(99, &status));
  aclrtUtilizationInfo use = {};
  EXPECT_OK(aclrtGetDeviceUtilizationRate(0, &use));
  EXPECT(use.cubeUtilization == -1 && use.memoryUtilization == -1);
  int32_t reaches = 1;
  EXPECT_OK(aclrtDeviceCanAccessPeer(&reaches, 0, 0));
  EXPECT(reaches == 0);
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_OK(aclrtSynchronizeDeviceWithTimeout(1000));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDeviceWithTimeout(-2));
}

static void memory() {
  void* memory = nullptr;
  EXPECT_OK(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
  EXPECT_OK(aclrtMemset(memory, 160, 0x1AB, 160));  // 100 rounded up to 128, and 32 to spare
  unsigned char back[160] = {};
  EXPECT_OK(aclrtMemcpy(back, 160, memory, 160, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(back[0] == 0xAB && back[159] == 0xAB);

  EXPECT_OK(
      aclrtMemcpy(nullptr, 0, nullptr, 0, static_cast<aclrtMemcpyKind>(77)));  // a count of 0 comes first
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, 8, back, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(memory, 8, nullptr, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(memory, 0, back, 8, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(memory, 8, back, 8, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(memory, 8, back, 8, static_cast<aclrtMemcpyKind>(-1)));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(memory, 0, back, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(memory, 7, back, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_OK(aclrtMemcpy(memory, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE));  // onto itself
  EXPECT_OK(aclrtMemcpy(back, 8, memory, 8, ACL_MEMCPY_HOST_TO_DEVICE));      // the addresses decide
  EXPECT_OK(aclrtMemset(nullptr, 0, 0, 0));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMemset(nullptr, 8, 0, 8));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(memory, 4, 0, 8));
  EXPECT_OK(aclrtMemsetAsync(memory, 8, 7, 8, nullptr));
  EXPECT_OK(aclrtMemcpyAsync(back, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT(back[0] == 7 && back[7] == 7 && back[8] == 0xAB);

  const char rows[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  char cut[2][2] = {};
  EXPECT_OK(aclrtMemcpy2d(memory, 4, rows, 4, 4, 2, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_OK(aclrtMemcpy2d(cut, 2, memory, 4, 2, 2, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(cut[0][0] == 1 && cut[0][1] == 2 && cut[1][0] == 5 && cut[1][1] == 6);
  EXPECT_OK(aclrtMemcpy2d(cut, 2, memory, 4, 0, 2, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMemcpy2d(cut, 2, memory, 4, 3, 2, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMemcpy2d(cut, 2, memory, 4, 2, 2, ACL_MEMCPY_HOST_TO_HOST));
  EXPECT_OK(aclrtMemcpy2dAsync(cut, 2, static_cast<char*>(memory) + 1, 4, 2, 2, ACL_MEMCPY_DEVICE_TO_HOST,
                               nullptr));
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT(cut[0][0] == 2 && cut[1][1] == 7);

  aclrtPtrAttributes where = {};
  EXPECT_OK(aclrtPointerGetAttributes(static_cast<char*>(memory) + 5, &where));
  EXPECT(where.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && where.location.id == 0);
  EXPECT_OK(aclrtPointerGetAttributes(back, &where));
  EXPECT(where.location.type == ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_OK(aclrtMemFlush(memory, 8));
  EXPECT_OK(aclrtMemInvalidate(memory, 8));
  EXPECT_OK(aclrtCmoAsync(memory, 8, ACL_RT_CMO_TYPE_PREFETCH, nullptr));

  EXPECT_OK(aclrtFree(memory));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(memory));  // twice
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(back));    // never ours
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtFree(nullptr));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ERROR(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&memory, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ERROR(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&memory, SIZE_MAX / 4, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMalloc(&memory, 8, static_cast<aclrtMemMallocPolicy>(0x7777)));  // any policy
  EXPECT_OK(aclrtFree(memory));
  EXPECT_OK(aclrtMallocAlign32(&memory, 8, ACL_MEM_MALLOC_NORMAL_ONLY));
  EXPECT_OK(aclrtFree(memory));
  EXPECT_OK(aclrtMallocCached(&memory, 8, ACL_MEM_MALLOC_NORMAL_ONLY));
  EXPECT_OK(aclrtFree(memory));
  aclrtMallocConfig bad = {nullptr, 1};
  aclrtMallocConfig good = {nullptr, 0};
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMallocWithCfg(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST, &bad));
  EXPECT_OK(aclrtMallocWithCfg(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST, &good));
  EXPECT_OK(aclrtFree(memory));

  void* host = nullptr;
  EXPECT_OK(aclrtMallocHost(&host, 10));
  EXPECT(reinterpret_cast<uintptr_t>(host) % 64 == 0);
  EXPECT_OK(aclrtFreeHost(host));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMallocHost(&host, 0));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtMallocHostWithCfg(&host, 8, &bad));
  EXPECT_OK(aclrtMallocHostWithCfg(&host, 8, nullptr));
  EXPECT_OK(aclrtFreeHost(host));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtFreeHost(nullptr));

  size_t free_bytes = 0, total_bytes = 0;
  EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes));
  EXPECT(free_bytes > 0 && free_bytes <= total_bytes);
}

static void streams() {
  aclrtStream stream = nullptr, other = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtCreateStreamWithConfig(&other, 3, ACL_STREAM_FAST_LAUNCH | 0x80000000U));
  int32_t id = -1, other_id = -1;
  EXPECT_OK(aclrtStreamGetId(stream, &id));
  EXPECT_OK(aclrtStreamGetId(other, &other_id));
  EXPECT(id >= 0 && id != other_id);
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtStreamQuery(stream, &status));
  EXPECT(status == ACL_STREAM_STATUS_COMPLETE);
  EXPECT_OK(aclrtStreamQuery(nullptr, &status));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtStreamQuery(stream, nullptr));
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 0));
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(stream, -2));
  EXPECT_OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtSetStreamFailureMode(stream, 2));
  uint32_t flag = 9;
  EXPECT_OK(aclrtGetStreamOverflowSwitch(stream, &flag));
  EXPECT(flag == 0);
  EXPECT_OK(aclrtSetStreamOverflowSwitch(stream, 1));
  EXPECT_OK(aclrtGetStreamOverflowSwitch(stream, &flag));
  EXPECT(flag == 1);
  EXPECT_OK(aclrtGetStreamOverflowSwitch(nullptr, &flag));
  EXPECT(flag == 0);

  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtDestroyStream(nullptr));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtDestroyStreamForce(other));
  for (void* dead :
       {static_cast<void*>(stream), garbage(0x1), garbage(0xDEADBEEF00), garbage(~uintptr_t{0})}) {
    EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(dead));
    EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(dead));
    EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamQuery(dead, &status));
    EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamGetId(dead, &id));
    EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetStreamFailureMode(dead, 0));
  }
}

static void events() {
  aclrtStream stream = nullptr, other = nullptr;
  aclrtEvent start = nullptr, end = nullptr, extended = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtCreateStream(&other));
  EXPECT_OK(aclrtCreateEvent(&start));
  EXPECT_OK(aclrtCreateEventWithFlag(&end, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
  EXPECT_OK(aclrtCreateEventExWithFlag(&extended, ACL_EVENT_SYNC));
  aclrtEvent spare = nullptr;
  EXPECT_OK(aclrtCreateEventWithFlag(&spare, 0));
  EXPECT_OK(aclrtDestroyEvent(spare));
  EXPECT_OK(aclrtCreateEventWithFlag(&spare, ACL_EVENT_EXTERNAL));
  EXPECT_OK(aclrtDestroyEvent(spare));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID,
               aclrtCreateEventWithFlag(&spare, ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateEventWithFlag(&spare, 0x100));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtCreateEvent(nullptr));

  aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  aclrtEventWaitStatus waited = ACL_EVENT_WAIT_STATUS_RESERVED;
  float ms = -1;
  EXPECT_OK(aclrtQueryEventStatus(start, &recorded));
  EXPECT(recorded == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_OK(aclrtQueryEvent(start, &status));
  EXPECT(status == ACL_EVENT_STATUS_NOT_READY);
  EXPECT_OK(aclrtQueryEventStatus(extended, &recorded));
  EXPECT(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtQueryEvent(extended, &status));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtQueryEventWaitStatus(extended, &waited));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtResetEvent(extended, stream));
  EXPECT_ERROR(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, start, end));

  std::vector<char> data(1 << 20);
  void* memory = nullptr;
  EXPECT_OK(aclrtMalloc(&memory, data.size(), ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtRecordEvent(start, stream));
  EXPECT_OK(
      aclrtMemcpyAsync(memory, data.size(), data.data(), data.size(), ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_OK(aclrtRecordEvent(end, stream));
  EXPECT_OK(aclrtStreamWaitEvent(other, end));
  EXPECT_OK(aclrtSynchronizeStream(other));
  EXPECT_OK(aclrtSynchronizeEvent(end));
  EXPECT_OK(aclrtSynchronizeEventWithTimeout(end, 100));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEventWithTimeout(end, -2));
  EXPECT_OK(aclrtQueryEvent(end, &status));
  EXPECT(status == ACL_EVENT_STATUS_COMPLETE);
  EXPECT_OK(aclrtQueryEventStatus(end, &recorded));
  EXPECT(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_OK(aclrtQueryEventWaitStatus(end, &waited));
  EXPECT(waited == ACL_EVENT_WAIT_STATUS_COMPLETE);
  EXPECT_OK(aclrtEventElapsedTime(&ms, start, end));
  EXPECT(ms >= 0);
  EXPECT_OK(aclrtResetEvent(end, stream));
  EXPECT_OK(aclrtRecordEvent(start, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));

  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtRecordEvent(nullptr, stream));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtStreamWaitEvent(stream, nullptr));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtResetEvent(nullptr, stream));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtQueryEvent(nullptr, &status));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtQueryEventStatus(end, nullptr));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtEventElapsedTime(nullptr, start, end));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtDestroyEvent(nullptr));
  EXPECT_OK(aclrtDestroyEvent(start));
  EXPECT_OK(aclrtDestroyEvent(extended));
  for (void* dead : {static_cast<void*>(start), garbage(0x1), garbage(0xDEADBEEF00)}) {
    EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(dead));
    EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(dead, stream));
    EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeEvent(dead));
    EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtQueryEventStatus(dead, &recorded));
    EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtEventElapsedTime(&ms, dead, end));
  }
  EXPECT_OK(aclrtDestroyEvent(end));
  EXPECT_OK(aclrtFree(memory));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtDestroyStream(other));
}

static void options_and_information() {
  int64_t value = 9;
  EXPECT_OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT(value == 0);
  EXPECT_OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
  EXPECT_OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT(value == 1);
  EXPECT_ERROR(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT_OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
  EXPECT_OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtSetSysParamOpt(static_cast<aclSysParamOpt>(77), 1));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr));

  aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
  EXPECT_OK(aclrtGetDeviceSatMode(&mode));
  EXPECT(mode == ACL_RT_OVERFLOW_MODE_INFNAN);
  EXPECT_OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF));
  void* flags = nullptr;
  EXPECT_OK(aclrtMalloc(&flags, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(flags, 64, 0xFF, 64));
  EXPECT_OK(aclrtGetOverflowStatus(flags, 64, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  unsigned char back[64] = {1};
  EXPECT_OK(aclrtMemcpy(back, 64, flags, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(back[0] == 0 && back[63] == 0);
  EXPECT_OK(aclrtResetOverflowStatus(nullptr));
  EXPECT_OK(aclrtFree(flags));

  EXPECT_OK(aclrtSetOpExecuteTimeOut(5));
  EXPECT_OK(aclrtSetOpExecuteTimeOutWithMs(5));
  EXPECT(std::string(aclrtGetSocName()).size() > 0);
  int32_t major = 0, minor = 0, patch = -1;
  EXPECT_OK(aclrtGetVersion(&major, &minor, &patch));
  EXPECT(major == 1 && minor == 13 && patch == 0);
  aclCANNPackageVersion version;
  EXPECT_OK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version));
  EXPECT(strlen(version.version) > 0 && strlen(version.majorVersion) > 0);
  EXPECT_ERROR(ACL_ERROR_INVALID_PARAM, aclsysGetCANNVersion(ACL_PKG_NAME_CANN, nullptr));
  const aclCannAttr* attributes = nullptr;
  size_t number = 0;
  EXPECT_OK(aclGetCannAttributeList(&attributes, &number));
  EXPECT(number == 2);
  int32_t has = 0;
  EXPECT_OK(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &has));
  EXPECT(has == 1);
  EXPECT_OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &value));
  EXPECT(value >= 1);
  EXPECT(aclDataTypeSize(ACL_BF16) == 2 && aclDataTypeSize(ACL_COMPLEX128) == 16 &&
         aclDataTypeSize(ACL_STRING) == 0);

  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float wide = aclFloat16ToFloat(static_cast<aclFloat16>(bits));
    if (std::isnan(wide)) continue;
    EXPECT(aclFloatToFloat16(wide) == bits);
  }
  EXPECT(aclFloat16ToFloat(0x3C01) == 1.0f + 1.0f / 1024);
  EXPECT(aclFloatToFloat16(1.0f + 1.0f / 2048) == 0x3C00);  // a tie, to even
  EXPECT(aclFloatToFloat16(1.0f + 3.0f / 2048) == 0x3C02);
  EXPECT(aclFloatToFloat16(1e6f) == 0x7C00);  // IEEE: overflow is infinity
}

static void what_is_refused() {
  EXPECT_ERROR(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtProcessReport(0));
  EXPECT_ERROR(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtLaunchKernel(nullptr, 1, nullptr, 0, nullptr));
  EXPECT_ERROR(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMallocPhysical(nullptr, 1, nullptr, 0));
  EXPECT_ERROR(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDeviceEnablePeerAccess(0, 0));
  EXPECT_ERROR(ACL_ERROR_FEATURE_UNSUPPORTED, aclmdlUnload(1));
  EXPECT_ERROR(ACL_ERROR_FEATURE_UNSUPPORTED, aclopSetModelDir("x"));
  EXPECT(aclCreateDataBuffer(nullptr, 0) == nullptr);
  EXPECT(aclGetRecentErrMsg() != nullptr);
}

int main() {
  without_a_device();
  start_and_end();
  texts();
  devices_and_contexts();
  memory();
  streams();
  events();
  options_and_information();
  what_is_refused();

  // The end, with objects alive: their handles are dead, memory is not.
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtContext context = nullptr;
  void* memory = nullptr;
  EXPECT_OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtGetCurrentContext(&context));
  EXPECT_OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
  EXPECT_OK(aclFinalize());
  EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(stream));
  EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(event));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(context));
  EXPECT_OK(aclrtFree(memory));
  without_a_device();
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());

  if (failures == 0) printf("runtime: as it should be\n");
  return failures == 0 ? 0 : 1;
}
