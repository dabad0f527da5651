// Devices, contexts, streams and events as the ACL runtime sees them.
//
// A context is a device with a default stream. Every device has a shared one, counted by SetDevice and
// ResetDevice; programs may create more. "Current" is per thread. Streams belong to the context they were
// created in.
#include "api/ascend_contexts.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/ascend_support.h"
#include "api/guard.h"
#include "core/registry.h"
#include "core/runtime.h"

namespace bn {
namespace ascend {
namespace {

struct Context {
  int32_t device = 0;       // in the library's own numbering
  uint64_t own_stream = 0;  // 0: the device's default stream
  bool by_default = false;  // the shared one of its device
  std::map<int32_t, int64_t> options;
};

struct DefaultContext {
  uint64_t handle = 0;
  int32_t count = 0;
};

struct StreamNotes {
  uint64_t context = 0;
  std::map<int32_t, uint64_t> values;
};

struct EventNotes {
  bool extended = false;
};

struct State {
  Registry<Context, Kind::kContext> contexts;
  std::mutex mutex;                            // guards what follows, and the contexts' options
  std::map<int32_t, DefaultContext> defaults;  // by device
  std::map<uint64_t, StreamNotes> streams;  // by handle; the default stream's notes are under its context's
  std::map<uint64_t, EventNotes> events;
  std::map<int32_t, int64_t> options;
};

// Never destroyed, like the runtime it stands on.
State& state() {
  static State* const created = [] {
    Runtime::
        get();  // its fork handlers come first, so that locks are taken in the order used everywhere else
    auto* s = new State;
    static State* const shared = s;
    pthread_atfork(
        [] {
          shared->mutex.lock();
          shared->contexts.before_fork();
        },
        [] {
          shared->contexts.after_fork_in_parent();
          shared->mutex.unlock();
        },
        [] {
          shared->contexts.after_fork_in_child();
          shared->defaults.clear();
          shared->streams.clear();
          shared->events.clear();
          shared->mutex.unlock();
        });
    return s;
  }();
  return *created;
}

uint64_t& current_handle() {
  thread_local uint64_t handle = 0;
  return handle;
}

// The current context, or null. One that was ended elsewhere is no longer current.
std::shared_ptr<Context> current_or_null() {
  const uint64_t handle = current_handle();
  return handle == 0 ? nullptr : state().contexts.find(handle);
}

std::shared_ptr<Context> current() {
  std::shared_ptr<Context> context = current_or_null();
  if (context == nullptr) {
    throw Error(BNAPI_ERR_RT_CONTEXT_NULL, "no device is current on this thread; call aclrtSetDevice first");
  }
  return context;
}

void require(const char* function, const char* parameter, const void* pointer) {
  if (pointer == nullptr) {
    throw Error(BNAPI_ERR_INVALID_PARAM, std::string(function) + ": " + parameter + ": null");
  }
}

// ---- devices: acl ids count the GPUs, or without one the CPU --------------------------------------------

std::vector<int32_t> acl_devices() {
  const std::vector<DeviceInfo>& all = Runtime::get().devices();
  std::vector<int32_t> gpus, others;
  for (size_t id = 0; id < all.size(); ++id) {
    (all[id].backend == cpu_backend() ? others : gpus).push_back(static_cast<int32_t>(id));
  }
  return gpus.empty() ? others : gpus;
}

int32_t from_acl_device(int32_t id) {
  const std::vector<int32_t> devices = acl_devices();
  if (id < 0 || static_cast<size_t>(id) >= devices.size()) {
    throw Error(
        BNAPI_ERR_RT_INVALID_DEVICEID,
        "device " + std::to_string(id) + " does not exist; there are " + std::to_string(devices.size()));
  }
  return devices[id];
}

int32_t to_acl_device(int32_t device) {
  const std::vector<int32_t> devices = acl_devices();
  const auto found = std::find(devices.begin(), devices.end(), device);
  return found == devices.end() ? -1 : static_cast<int32_t>(found - devices.begin());
}

// ---- contexts -------------------------------------------------------------------------------------------

void make_current(uint64_t handle, const Context& context) {
  current_handle() = handle;
  thread_state().device =
      context.device;  // for the rest of this call; later ones find it through the context
}

// The first failure of the stream's work goes to `failure`, if that has none yet.
void end_stream(uint64_t handle, std::exception_ptr& failure) try {
  Runtime::get().destroy_stream(handle);
} catch (const Error&) {
  if (!failure) failure = std::current_exception();
}

// Forgets one stream of a context and returns its handle; 0 when there is none left.
uint64_t forget_stream(uint64_t context_handle) {
  std::lock_guard<std::mutex> lock(state().mutex);
  auto& notes = state().streams;
  const auto found = std::find_if(notes.begin(), notes.end(),
                                  [&](const auto& entry) { return entry.second.context == context_handle; });
  if (found == notes.end()) return 0;
  const uint64_t handle = found->first;
  notes.erase(found);
  return handle;
}

// Waits for a context's streams and ends all of them, then reports the first failure of their work. Needs no
// memory, so that nothing is left half ended.
void end_streams(uint64_t context_handle, uint64_t own_stream, std::exception_ptr failure = nullptr) {
  if (own_stream != 0) end_stream(own_stream, failure);
  while (const uint64_t handle = forget_stream(context_handle))
    end_stream(handle, failure);
  if (failure) std::rethrow_exception(failure);
}

std::shared_ptr<Context> find_context(const char* function, void* handle) {
  require(function, "context", handle);
  std::shared_ptr<Context> context = state().contexts.find(handle_bits(handle));
  if (context == nullptr) {
    throw Error(BNAPI_ERR_RT_PARAM_INVALID,
                std::string(function) + ": context: not a live context (destroyed, or never one)");
  }
  return context;
}

// False when `timeout_ms` ran out first. With a limit, wrapped streams are left to their owners: they may be gone,
// and the device cannot be waited for in their place for so long only.
bool synchronize_device(int32_t device, int32_t timeout_ms) {
  Runtime& runtime = Runtime::get();
  if (timeout_ms < 0) {
    runtime.synchronize_device(device);
    return true;
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  std::vector<std::shared_ptr<StreamObject>> waiting = {runtime.default_stream(device)};
  runtime.streams.for_each([&](const std::shared_ptr<StreamObject>& stream) {
    if (stream->device == device && stream->stream->owned()) waiting.push_back(stream);
  });
  for (const auto& stream : waiting) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (!stream->stream->synchronize(static_cast<int32_t>(std::max<int64_t>(left.count(), 0)))) return false;
  }
  return true;
}

// ---- streams --------------------------------------------------------------------------------------------

// Where a stream's notes are kept: under its handle, or for a default stream under its context's.
uint64_t notes_key(bnapiStream stream) {
  if (stream != nullptr) {
    Runtime::get().stream(stream);  // throws for a dead one
    return handle_bits(stream);
  }
  current();
  return current_handle();
}

uint64_t add_stream(int32_t device, uint64_t context_handle) {
  Runtime& runtime = Runtime::get();
  const DeviceInfo& info = runtime.device(device);
  const uint64_t handle = runtime.add_stream(device, info.backend->create_stream(info.ordinal));
  try {
    std::lock_guard<std::mutex> lock(state().mutex);
    state().streams[handle].context = context_handle;
  } catch (...) {
    runtime.streams.take(handle);
    throw;
  }
  return handle;
}

bool is_extended(bnapiEvent event) {
  std::lock_guard<std::mutex> lock(state().mutex);
  const auto found = state().events.find(handle_bits(event));
  return found != state().events.end() && found->second.extended;
}

}  // namespace

int32_t current_context_device() {
  const std::shared_ptr<Context> context = current_or_null();
  return context == nullptr ? -1 : context->device;
}

void drop_contexts() {
  State& s = state();
  s.contexts.clear();
  std::lock_guard<std::mutex> lock(s.mutex);
  s.defaults.clear();
  s.streams.clear();
  s.events.clear();
  s.options.clear();
}

}  // namespace ascend
}  // namespace bn

using namespace bn::ascend;  // NOLINT: the entry points below are this file's subject
using bn::Error;
using bn::guard;
using bn::handle_bits;
using bn::Runtime;
using bn::to_handle;

extern "C" {

bnapiStatus bnapiAscendFinalize(void) {
  return guard([] {
    // Made on first use: now, while lack of memory for it loses nothing.
    state();
    make_lists();
    Runtime::get().finalize();
    drop_contexts();
    drop_lists();
  });
}

// ---- devices --------------------------------------------------------------------------------------------

bnapiStatus bnapiAscendGetDeviceCount(uint32_t* count) {
  return guard([&] {
    require("GetDeviceCount", "count", count);
    const size_t devices = acl_devices().size();
    if (devices == 0) throw Error(BNAPI_ERR_RT_NO_DEVICE, "GetDeviceCount: there is none");
    *count = static_cast<uint32_t>(devices);
  });
}

bnapiStatus bnapiAscendCheckDevice(int32_t device) {
  return guard([&] { from_acl_device(device); });
}

bnapiStatus bnapiAscendSetDevice(int32_t acl_device) {
  return guard([&] {
    const int32_t device = from_acl_device(acl_device);
    State& s = state();
    std::lock_guard<std::mutex> lock(s.mutex);
    DefaultContext& shared = s.defaults[device];
    std::shared_ptr<Context> context = s.contexts.find(shared.handle);
    if (context == nullptr) {
      context = std::make_shared<Context>();
      context->device = device;
      context->by_default = true;
      shared = {s.contexts.insert(context), 0};
    }
    ++shared.count;
    make_current(shared.handle, *context);
  });
}

bnapiStatus bnapiAscendResetDevice(int32_t acl_device, bool force) {
  return guard([&] {
    const int32_t device = from_acl_device(acl_device);
    State& s = state();
    uint64_t handle;
    {
      std::lock_guard<std::mutex> lock(s.mutex);
      DefaultContext& shared = s.defaults[device];
      if (shared.count == 0) {
        if (force) return;
        throw Error(BNAPI_ERR_RT_CONTEXT_RELEASE,
                    "ResetDevice: device " + std::to_string(acl_device) + " was reset more often than set");
      }
      shared.count = force ? 0 : shared.count - 1;
      if (shared.count > 0) return;
      handle = shared.handle;
      shared.handle = 0;
    }
    // The device is let go even if its work failed; the failure is reported then.
    std::exception_ptr failure;
    try {
      Runtime::get().synchronize_device(device);
    } catch (const Error&) {
      failure = std::current_exception();
    }
    s.contexts.take(handle);
    end_streams(handle, 0, failure);
  });
}

bnapiStatus bnapiAscendGetDevice(int32_t* device) {
  return guard([&] {
    require("GetDevice", "deviceId", device);
    *device = to_acl_device(current()->device);
  });
}

bnapiStatus bnapiAscendSynchronizeDevice(int32_t timeout_ms) {
  return guard([&] {
    if (timeout_ms < -1) {
      throw Error(BNAPI_ERR_RT_PARAM_INVALID,
                  "timeout: " + std::to_string(timeout_ms) + "; expected -1 or more");
    }
    if (!synchronize_device(current()->device, timeout_ms)) {
      throw Error(BNAPI_ERR_RT_STREAM_SYNC_TIMEOUT,
                  "work is left after " + std::to_string(timeout_ms) + " ms");
    }
  });
}

bnapiStatus bnapiAscendLocate(const void* address, int32_t* device) {
  return guard([&] {
    require("PointerGetAttributes", "ptr", address);
    bool host = true;
    const int32_t found = Runtime::get().device_of(address, &host);
    *device = found < 0 || host ? -1 : to_acl_device(found);
  });
}

// ---- contexts -------------------------------------------------------------------------------------------

bnapiStatus bnapiAscendCreateContext(void** context, int32_t device) {
  return guard([&] {
    require("CreateContext", "context", context);
    auto created = std::make_shared<Context>();
    created->device = from_acl_device(device);
    const uint64_t handle = state().contexts.insert(created);
    try {
      created->own_stream = add_stream(created->device, handle);
    } catch (...) {
      state().contexts.take(handle);
      throw;
    }
    make_current(handle, *created);
    *context = to_handle<void*>(handle);
  });
}

bnapiStatus bnapiAscendDestroyContext(void* context) {
  return guard([&] {
    const auto found = find_context("DestroyContext", context);
    if (found->by_default) {
      throw Error(BNAPI_ERR_RT_PARAM_INVALID,
                  "DestroyContext: context: the default one of its device; aclrtResetDevice ends it");
    }
    if (state().contexts.take(handle_bits(context)) == nullptr) return;  // another thread was faster
    end_streams(handle_bits(context), found->own_stream);
  });
}

bnapiStatus bnapiAscendSetCurrentContext(void* context) {
  return guard([&] { make_current(handle_bits(context), *find_context("SetCurrentContext", context)); });
}

bnapiStatus bnapiAscendGetCurrentContext(void** context) {
  return guard([&] {
    require("GetCurrentContext", "context", context);
    current();
    *context = to_handle<void*>(current_handle());
  });
}

bnapiStatus bnapiAscendRequireContext(void) {
  return guard([] { current(); });
}

bnapiStatus bnapiAscendSetOption(bool of_context, int32_t key, int64_t value) {
  return guard([&] {
    const auto context = of_context ? current() : nullptr;
    std::lock_guard<std::mutex> lock(state().mutex);
    (of_context ? context->options : state().options)[key] = value;
  });
}

bnapiStatus bnapiAscendGetOption(bool of_context, int32_t key, int64_t otherwise, int64_t* value) {
  return guard([&] {
    require("GetSysParamOpt", "value", value);
    const auto context = of_context ? current() : nullptr;
    std::lock_guard<std::mutex> lock(state().mutex);
    const auto& options = of_context ? context->options : state().options;
    const auto found = options.find(key);
    if (found == options.end() && of_context) {
      throw Error(BNAPI_ERR_RT_SYSPARAMOPT_NOT_SET,
                  "option " + std::to_string(key) + " is not set in this context");
    }
    *value = found == options.end() ? otherwise : found->second;
  });
}

// ---- streams --------------------------------------------------------------------------------------------

bnapiStream bnapiAscendStream(void* stream) {
  if (stream != nullptr) return static_cast<bnapiStream>(stream);
  const auto context = current_or_null();
  return context == nullptr ? nullptr : to_handle<bnapiStream>(context->own_stream);
}

bnapiStatus bnapiAscendCreateStream(bnapiStream* stream) {
  return guard([&] {
    require("CreateStream", "stream", stream);
    *stream = to_handle<bnapiStream>(add_stream(current()->device, current_handle()));
  });
}

bnapiStatus bnapiAscendDestroyStream(bnapiStream stream) {
  return guard([&] {
    require("DestroyStream", "stream", stream);
    Runtime::get().stream(stream);  // throws for a dead one
    {
      std::lock_guard<std::mutex> lock(state().mutex);
      const auto notes = state().streams.find(handle_bits(stream));
      if (notes != state().streams.end()) {
        if (current_or_null() != nullptr && notes->second.context != current_handle()) {
          throw Error(BNAPI_ERR_RT_STREAM_CONTEXT,
                      "DestroyStream: stream: of another context than the current one");
        }
        state().streams.erase(notes);
      }
    }
    Runtime::get().destroy_stream(handle_bits(stream));
  });
}

bnapiStatus bnapiAscendStreamId(bnapiStream stream, int32_t* id) {
  return guard([&] {
    require("StreamGetId", "streamId", id);
    *id = Runtime::get().stream(stream)->id;
  });
}

bnapiStatus bnapiAscendSetStreamNote(bnapiStream stream, int32_t key, uint64_t value) {
  return guard([&] {
    const uint64_t place = notes_key(stream);
    std::lock_guard<std::mutex> lock(state().mutex);
    StreamNotes& notes = state().streams[place];
    if (notes.context == 0) notes.context = current_handle();
    notes.values[key] = value;
  });
}

bnapiStatus bnapiAscendGetStreamNote(bnapiStream stream, int32_t key, uint64_t* value) {
  return guard([&] {
    const uint64_t place = notes_key(stream);
    std::lock_guard<std::mutex> lock(state().mutex);
    const auto notes = state().streams.find(place);
    *value = 0;
    if (notes == state().streams.end()) return;
    const auto found = notes->second.values.find(key);
    if (found != notes->second.values.end()) *value = found->second;
  });
}

// ---- events ---------------------------------------------------------------------------------------------

bnapiStatus bnapiAscendCreateEvent(bnapiEvent* event, bool extended) {
  return guard([&] {
    require("CreateEvent", "event", event);
    Runtime& runtime = Runtime::get();
    const int32_t device = current()->device;
    const bn::DeviceInfo& info = runtime.device(device);
    auto object = std::make_shared<bn::EventObject>();
    object->device = device;
    object->event = info.backend->create_event(info.ordinal);
    const uint64_t handle = runtime.events.insert(std::move(object));
    if (extended) {
      try {
        std::lock_guard<std::mutex> lock(state().mutex);
        state().events[handle].extended = true;
      } catch (...) {
        runtime.events.take(handle);
        throw;
      }
    }
    *event = to_handle<bnapiEvent>(handle);
  });
}

bnapiStatus bnapiAscendDestroyEvent(bnapiEvent event) {
  return guard([&] {
    require("DestroyEvent", "event", event);
    Runtime::get().event(event);  // throws for a dead one
    Runtime::get().events.take(handle_bits(event));
    std::lock_guard<std::mutex> lock(state().mutex);
    state().events.erase(handle_bits(event));
  });
}

bnapiStatus bnapiAscendQueryEvent(bnapiEvent event, bool* complete) {
  return guard([&] {
    require("QueryEvent", "event", event);
    require("QueryEvent", "status", complete);
    const auto found = Runtime::get().event(event);
    *complete = found->event->recorded() ? found->event->query() : is_extended(event);
  });
}

bnapiStatus bnapiAscendRequirePlainEvent(bnapiEvent event) {
  return guard([&] {
    require("QueryEvent", "event", event);
    Runtime::get().event(event);
    if (is_extended(event)) {
      throw Error(BNAPI_ERR_RT_PARAM_INVALID,
                  "event: of aclrtCreateEventExWithFlag, which this function does not take");
    }
  });
}

}  // extern "C"
