// bn_api/runtime.h: start-up, devices, memory, streams and events.

#include "bn_api/runtime.h"

#include <algorithm>
#include <string>

#include "api/guard.h"
#include "backends/cpu/plan.h"
#include "backends/cpu/pool.h"
#include "core/runtime.h"

namespace bn {
namespace {

void require(const char* function, const char* parameter, const void* pointer) {
  if (pointer == nullptr)
    throw Error(BNAPI_ERR_INVALID_PARAM, std::string(function) + ": " + parameter + ": null");
}

const DeviceInfo& current() {
  Runtime& runtime = Runtime::get();
  return runtime.device(runtime.current_device());
}

bnapiStatus allocate(const char* function, void** memory, size_t size_bytes, bool host) {
  return guard([&] {
    require(function, "ptr", memory);
    if (size_bytes == 0)
      throw Error(BNAPI_ERR_INVALID_PARAM, std::string(function) + ": size: 0; expected 1 or more");
    Runtime& runtime = Runtime::get();
    *memory = runtime.allocate(runtime.current_device(), size_bytes, host);
  });
}

bnapiStatus release(const char* function, void* memory, bool host) {
  return guard([&] {
    require(function, "ptr", memory);
    Runtime::get().release(memory, host);
  });
}

// The checks of copies and sets, in the order of the ACL runtime. False: nothing to do.
bool check_range(const char* function, const void* dst, size_t dest_max, const void* src, size_t count,
                 int32_t kind) {
  if (count == 0) return false;
  require(function, "dst", dst);
  require(function, "src", src);
  if (kind < BNAPI_MEMCPY_HOST_TO_HOST || kind > BNAPI_MEMCPY_DEFAULT) {
    throw Error(BNAPI_ERR_INVALID_PARAM,
                std::string(function) + ": kind: " + std::to_string(kind) + "; expected a bnapiMemcpyKind");
  }
  if (count > dest_max) {
    throw Error(BNAPI_ERR_RT_PARAM_INVALID, std::string(function) + ": count: " + std::to_string(count) +
                                                " bytes; destMax allows " + std::to_string(dest_max));
  }
  return true;
}

int32_t kind_value(bnapiMemcpyKind kind) {
  return static_cast<int32_t>(kind);
}

void check_timeout(const char* function, int32_t timeout_ms) {
  if (timeout_ms < -1) {
    throw Error(BNAPI_ERR_RT_PARAM_INVALID, std::string(function) + ": timeout_ms: " +
                                                std::to_string(timeout_ms) + "; expected -1 or more");
  }
}

bnapiStatus synchronize_stream(const char* function, bnapiStream stream, int32_t timeout_ms) {
  return guard([&] {
    check_timeout(function, timeout_ms);
    if (!Runtime::get().stream(stream)->stream->synchronize(timeout_ms)) {
      throw Error(BNAPI_ERR_RT_STREAM_SYNC_TIMEOUT,
                  std::string(function) + ": work is left after " + std::to_string(timeout_ms) + " ms");
    }
  });
}

bnapiStatus synchronize_event(const char* function, bnapiEvent event, int32_t timeout_ms) {
  return guard([&] {
    require(function, "event", event);
    check_timeout(function, timeout_ms);
    if (!Runtime::get().event(event)->event->synchronize(timeout_ms)) {
      throw Error(BNAPI_ERR_RT_EVENT_SYNC_TIMEOUT,
                  std::string(function) + ": not reached after " + std::to_string(timeout_ms) + " ms");
    }
  });
}

// On the CPU a copy from or to "device" memory waits for queued work, so that a program which forgot to
// synchronize reads finished results. (A CUDA copy is ordered by its own stream alone.)
void settle(const DeviceInfo& device, bnapiMemcpyKind kind) {
  if (device.backend == cpu_backend() && kind != BNAPI_MEMCPY_HOST_TO_HOST) {
    Runtime::get().synchronize_device(Runtime::get().current_device());
  }
}

// Orders `stream` after what `event` marks now. Devices of different backends have no common queue: there the
// caller waits.
void stream_wait(StreamObject& stream, const EventObject& event) {
  Runtime& runtime = Runtime::get();
  if (runtime.device(stream.device).backend == runtime.device(event.device).backend) {
    stream.stream->wait(event.event);
  } else {
    event.event->synchronize(-1);
  }
}

}  // namespace
}  // namespace bn

using bn::guard;
using bn::require;
using bn::Runtime;

extern "C" {

// ---- start-up and diagnosis
// ----------------------------------------------------------------------------------

bnapiStatus bnapiInit(const char* config_path) {
  return guard([&] { Runtime::get().init(config_path); });
}

bnapiStatus bnapiFinalize(void) {
  return guard([] { Runtime::get().finalize(); });
}

const char* bnapiGetRecentErrMsg(void) {
  return bn::error_text();
}

const char* bnapiStatusName(bnapiStatus status) {
  switch (status) {
#define BN_STATUS_NAME(name) \
  case name:                 \
    return #name
    BN_STATUS_NAME(BNAPI_SUCCESS);
    BN_STATUS_NAME(BNAPI_ERR_PARAM_NULLPTR);
    BN_STATUS_NAME(BNAPI_ERR_PARAM_INVALID);
    BN_STATUS_NAME(BNAPI_ERR_RUNTIME_ERROR);
    BN_STATUS_NAME(BNAPI_ERR_INNER);
    BN_STATUS_NAME(BNAPI_ERR_INNER_CREATE_EXECUTOR);
    BN_STATUS_NAME(BNAPI_ERR_INNER_NULLPTR);
    BN_STATUS_NAME(BNAPI_ERR_INVALID_PARAM);
    BN_STATUS_NAME(BNAPI_ERR_REPEAT_INITIALIZE);
    BN_STATUS_NAME(BNAPI_ERR_INVALID_FILE);
    BN_STATUS_NAME(BNAPI_ERR_REPEAT_FINALIZE);
    BN_STATUS_NAME(BNAPI_ERR_RT_PARAM_INVALID);
    BN_STATUS_NAME(BNAPI_ERR_RT_INVALID_DEVICEID);
    BN_STATUS_NAME(BNAPI_ERR_RT_CONTEXT_NULL);
    BN_STATUS_NAME(BNAPI_ERR_RT_STREAM_CONTEXT);
    BN_STATUS_NAME(BNAPI_ERR_RT_EVENT_TIMESTAMP_INVALID);
    BN_STATUS_NAME(BNAPI_ERR_RT_EVENT_TIMESTAMP_REVERSAL);
    BN_STATUS_NAME(BNAPI_ERR_RT_INVALID_HANDLE);
    BN_STATUS_NAME(BNAPI_ERR_RT_SYSPARAMOPT_NOT_SET);
    BN_STATUS_NAME(BNAPI_ERR_RT_FEATURE_NOT_SUPPORT);
    BN_STATUS_NAME(BNAPI_ERR_RT_MEMORY_ALLOCATION);
    BN_STATUS_NAME(BNAPI_ERR_RT_NO_DEVICE);
    BN_STATUS_NAME(BNAPI_ERR_RT_INTERNAL_ERROR);
    BN_STATUS_NAME(BNAPI_ERR_RT_CONTEXT_RELEASE);
    BN_STATUS_NAME(BNAPI_ERR_RT_DEVICE_EXCEPTION);
    BN_STATUS_NAME(BNAPI_ERR_RT_STREAM_SYNC_TIMEOUT);
    BN_STATUS_NAME(BNAPI_ERR_RT_EVENT_SYNC_TIMEOUT);
#undef BN_STATUS_NAME
    default:
      return "unknown status";
  }
}

bnapiStatus bnapiGetVersion(int32_t* major, int32_t* minor, int32_t* patch) {
  if (major != nullptr) *major = BNAPI_VERSION_MAJOR;
  if (minor != nullptr) *minor = BNAPI_VERSION_MINOR;
  if (patch != nullptr) *patch = BNAPI_VERSION_PATCH;
  return BNAPI_SUCCESS;
}

const char* bnapiGetBuildInfo(void) {
  const char* text = "bn_api";
  guard([&] { text = Runtime::get().build_info(); });
  return text;
}

const char* bnapiGetIsa(void) {
  return bn::cpu::isa_in_use();
}

int32_t bnapiGetNumThreads(void) {
  return bn::cpu::num_threads();
}

bnapiStatus bnapiSetNumThreads(int32_t threads) {
  return guard([&] {
    if (threads < 1) {
      throw bn::Error(BNAPI_ERR_INVALID_PARAM,
                      "SetNumThreads: threads: " + std::to_string(threads) + "; expected 1 or more");
    }
    bn::cpu::set_num_threads(threads);
  });
}

// ---- devices
// -------------------------------------------------------------------------------------------------

bnapiStatus bnapiGetDeviceCount(uint32_t* count) {
  return guard([&] {
    require("GetDeviceCount", "count", count);
    *count = static_cast<uint32_t>(Runtime::get().devices().size());
  });
}

bnapiStatus bnapiSetDevice(int32_t device) {
  return guard([&] {
    Runtime::get().device(device);
    bn::thread_state().device = device;
  });
}

bnapiStatus bnapiGetDevice(int32_t* device) {
  return guard([&] {
    require("GetDevice", "device", device);
    *device = Runtime::get().current_device();
  });
}

bnapiStatus bnapiGetDeviceType(int32_t device, bnapiDeviceType* type) {
  return guard([&] {
    require("GetDeviceType", "type", type);
    *type = Runtime::get().device(device).backend == bn::cpu_backend() ? BNAPI_DEVICE_CPU : BNAPI_DEVICE_CUDA;
  });
}

bnapiStatus bnapiGetDeviceOrdinal(int32_t device, int32_t* ordinal) {
  return guard([&] {
    require("GetDeviceOrdinal", "ordinal", ordinal);
    *ordinal = Runtime::get().device(device).ordinal;
  });
}

const char* bnapiGetDeviceName(int32_t device) {
  const char* name = "";
  guard([&] { name = Runtime::get().device(device).name.c_str(); });
  return name;
}

bnapiStatus bnapiSynchronizeDevice(void) {
  return guard([] { Runtime::get().synchronize_device(Runtime::get().current_device()); });
}

bnapiStatus bnapiGetMemInfo(size_t* free_bytes, size_t* total_bytes) {
  return guard([&] {
    require("GetMemInfo", "free_bytes", free_bytes);
    require("GetMemInfo", "total_bytes", total_bytes);
    const bn::DeviceInfo& device = bn::current();
    device.backend->memory_info(device.ordinal, free_bytes, total_bytes);
  });
}

// ---- memory
// --------------------------------------------------------------------------------------------------

bnapiStatus bnapiMalloc(void** ptr, size_t size_bytes) {
  return bn::allocate("Malloc", ptr, size_bytes, false);
}
bnapiStatus bnapiFree(void* ptr) {
  return bn::release("Free", ptr, false);
}
bnapiStatus bnapiMallocHost(void** ptr, size_t size_bytes) {
  return bn::allocate("MallocHost", ptr, size_bytes, true);
}
bnapiStatus bnapiFreeHost(void* ptr) {
  return bn::release("FreeHost", ptr, true);
}

bnapiStatus bnapiMemcpy(void* dst, size_t dest_max, const void* src, size_t count, bnapiMemcpyKind kind) {
  return guard([&] {
    if (!bn::check_range("Memcpy", dst, dest_max, src, count, bn::kind_value(kind))) return;
    const bn::DeviceInfo& device = bn::current();
    bn::settle(device, kind);
    device.backend->copy(device.ordinal, dst, src, count);
  });
}

bnapiStatus bnapiMemcpyAsync(void* dst, size_t dest_max, const void* src, size_t count, bnapiMemcpyKind kind,
                             bnapiStream stream) {
  return guard([&] {
    if (!bn::check_range("MemcpyAsync", dst, dest_max, src, count, bn::kind_value(kind))) return;
    Runtime::get().stream(stream)->stream->copy(dst, src, count);
  });
}

bnapiStatus bnapiMemset(void* dst, size_t dest_max, int32_t value, size_t count) {
  return guard([&] {
    if (!bn::check_range("Memset", dst, dest_max, dst, count, BNAPI_MEMCPY_DEFAULT)) return;
    const bn::DeviceInfo& device = bn::current();
    bn::settle(device, BNAPI_MEMCPY_DEFAULT);
    device.backend->set(device.ordinal, dst, value, count);
  });
}

bnapiStatus bnapiMemsetAsync(void* dst, size_t dest_max, int32_t value, size_t count, bnapiStream stream) {
  return guard([&] {
    if (!bn::check_range("MemsetAsync", dst, dest_max, dst, count, BNAPI_MEMCPY_DEFAULT)) return;
    Runtime::get().stream(stream)->stream->set(dst, value, count);
  });
}

// ---- streams
// -------------------------------------------------------------------------------------------------

bnapiStatus bnapiCreateStream(bnapiStream* stream) {
  return guard([&] {
    require("CreateStream", "stream", stream);
    Runtime& runtime = Runtime::get();
    const int32_t id = runtime.current_device();
    const bn::DeviceInfo& device = runtime.device(id);
    *stream =
        bn::to_handle<bnapiStream>(runtime.add_stream(id, device.backend->create_stream(device.ordinal)));
  });
}

bnapiStatus bnapiStreamFromNative(void* native, bnapiStream* stream) {
  return guard([&] {
    require("StreamFromNative", "stream", stream);
    Runtime& runtime = Runtime::get();
    const int32_t id = runtime.current_device();
    const bn::DeviceInfo& device = runtime.device(id);
    *stream = bn::to_handle<bnapiStream>(
        runtime.add_stream(id, device.backend->wrap_stream(device.ordinal, native)));
  });
}

bnapiStatus bnapiStreamGetNative(bnapiStream stream, void** native) {
  return guard([&] {
    require("StreamGetNative", "native", native);
    *native = Runtime::get().stream(stream)->stream->native();
  });
}

bnapiStatus bnapiDestroyStream(bnapiStream stream) {
  return guard([&] {
    require("DestroyStream", "stream", stream);
    if (!Runtime::get().destroy_stream(bn::handle_bits(stream))) {
      throw bn::Error(BNAPI_ERR_RT_INVALID_HANDLE,
                      "DestroyStream: stream: not a live stream (destroyed, or never one)");
    }
  });
}

bnapiStatus bnapiSynchronizeStream(bnapiStream stream) {
  return bn::synchronize_stream("SynchronizeStream", stream, -1);
}

bnapiStatus bnapiSynchronizeStreamWithTimeout(bnapiStream stream, int32_t timeout_ms) {
  return bn::synchronize_stream("SynchronizeStreamWithTimeout", stream, timeout_ms);
}

bnapiStatus bnapiStreamQuery(bnapiStream stream, bool* complete) {
  return guard([&] {
    require("StreamQuery", "complete", complete);
    *complete = Runtime::get().stream(stream)->stream->query();
  });
}

bnapiStatus bnapiStreamWaitEvent(bnapiStream stream, bnapiEvent event) {
  return guard([&] {
    require("StreamWaitEvent", "event", event);
    bn::stream_wait(*Runtime::get().stream(stream), *Runtime::get().event(event));
  });
}

bnapiStatus bnapiStreamGetDevice(bnapiStream stream, int32_t* device) {
  return guard([&] {
    require("StreamGetDevice", "device", device);
    *device = Runtime::get().stream(stream)->device;
  });
}

// ---- events
// --------------------------------------------------------------------------------------------------

bnapiStatus bnapiCreateEvent(bnapiEvent* event) {
  return guard([&] {
    require("CreateEvent", "event", event);
    Runtime& runtime = Runtime::get();
    const int32_t id = runtime.current_device();
    const bn::DeviceInfo& device = runtime.device(id);
    auto object = std::make_shared<bn::EventObject>();
    object->device = id;
    object->event = device.backend->create_event(device.ordinal);
    *event = bn::to_handle<bnapiEvent>(runtime.events.insert(std::move(object)));
  });
}

bnapiStatus bnapiDestroyEvent(bnapiEvent event) {
  return guard([&] {
    require("DestroyEvent", "event", event);
    if (Runtime::get().events.take(bn::handle_bits(event)) == nullptr) {
      throw bn::Error(BNAPI_ERR_RT_INVALID_HANDLE,
                      "DestroyEvent: event: not a live event (destroyed, or never one)");
    }
  });
}

bnapiStatus bnapiRecordEvent(bnapiEvent event, bnapiStream stream) {
  return guard([&] {
    require("RecordEvent", "event", event);
    const auto marked = Runtime::get().event(event);
    const auto in = Runtime::get().stream(stream);
    if (marked->device != in->device) {
      throw bn::Error(BNAPI_ERR_RT_STREAM_CONTEXT,
                      "RecordEvent: stream: of device " + std::to_string(in->device) +
                          "; the event is of device " + std::to_string(marked->device));
    }
    in->stream->record(*marked->event);
  });
}

bnapiStatus bnapiQueryEvent(bnapiEvent event, bool* complete) {
  return guard([&] {
    require("QueryEvent", "event", event);
    require("QueryEvent", "complete", complete);
    *complete = Runtime::get().event(event)->event->query();
  });
}

bnapiStatus bnapiSynchronizeEvent(bnapiEvent event) {
  return bn::synchronize_event("SynchronizeEvent", event, -1);
}

bnapiStatus bnapiSynchronizeEventWithTimeout(bnapiEvent event, int32_t timeout_ms) {
  return bn::synchronize_event("SynchronizeEventWithTimeout", event, timeout_ms);
}

bnapiStatus bnapiEventElapsedTime(float* elapsed_ms, bnapiEvent start, bnapiEvent end) {
  return guard([&] {
    require("EventElapsedTime", "elapsed_ms", elapsed_ms);
    require("EventElapsedTime", "start", start);
    require("EventElapsedTime", "end", end);
    const auto from = Runtime::get().event(start);
    const auto to = Runtime::get().event(end);
    if (from->device != to->device) {
      throw bn::Error(BNAPI_ERR_RT_STREAM_CONTEXT, "EventElapsedTime: the events are of different devices");
    }
    if (!from->event->recorded() || !to->event->recorded() || !from->event->query() || !to->event->query()) {
      throw bn::Error(BNAPI_ERR_RT_EVENT_TIMESTAMP_INVALID,
                      "EventElapsedTime: both events must have been recorded and reached");
    }
    const float ms = from->event->elapsed_ms(*to->event);
    if (ms < 0) {
      throw bn::Error(BNAPI_ERR_RT_EVENT_TIMESTAMP_REVERSAL,
                      "EventElapsedTime: end was reached before start");
    }
    *elapsed_ms = ms;
  });
}

}  // extern "C"
