#include "core/runtime.h"

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace bn {

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

Runtime& Runtime::get() {
  static Runtime* runtime = [] {
    auto* created = new Runtime;
    pthread_atfork([] { Runtime::get().before_fork(); }, [] { Runtime::get().after_fork_in_parent(); },
                   [] { Runtime::get().after_fork_in_child(); });
    return created;
  }();
  return *runtime;
}

Runtime::Runtime() = default;

// ---- devices
// -------------------------------------------------------------------------------------------------

namespace {

std::vector<DeviceInfo> devices_of(Backend* backend) {
  std::vector<DeviceInfo> found;
  if (backend == nullptr) return found;
  for (int ordinal = 0; ordinal < backend->device_count(); ++ordinal) {
    found.push_back({backend, ordinal, backend->device_name(ordinal)});
  }
  return found;
}

void append(std::vector<DeviceInfo>& to, const std::vector<DeviceInfo>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void Runtime::find_devices() {
  const std::vector<DeviceInfo> cuda = devices_of(cuda_backend(&no_cuda_why_));
  const std::vector<DeviceInfo> cpu = devices_of(cpu_backend());
  const char* wanted = getenv("BNAPI_DEVICES");
  std::vector<DeviceInfo> found;
  if (wanted == nullptr || *wanted == '\0') {
    append(found, cuda);
    append(found, cpu);
    devices_ = std::move(found);
    return;
  }
  // A comma-separated list of "cpu", "cuda" (all of them) and "cuda:N".
  const std::string list = wanted;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    begin = end + 1;
    if (item == "cpu") {
      append(found, cpu);
    } else if (item == "cuda") {
      append(found, cuda);
    } else if (item.compare(0, 5, "cuda:") == 0) {
      const size_t ordinal = strtoul(item.c_str() + 5, nullptr, 10);
      if (ordinal < cuda.size()) found.push_back(cuda[ordinal]);
    }
  }
  devices_ = std::move(found);
}

const std::vector<DeviceInfo>& Runtime::devices() {
  std::call_once(devices_once_, [this] { find_devices(); });
  return devices_;
}

const DeviceInfo& Runtime::device(int32_t id) {
  const std::vector<DeviceInfo>& all = devices();
  if (id < 0 || static_cast<size_t>(id) >= all.size()) {
    throw Error(BNAPI_ERR_RT_INVALID_DEVICEID,
                "device: " + std::to_string(id) + " does not exist; there are " + std::to_string(all.size()));
  }
  return all[id];
}

int32_t Runtime::current_device() {
  const ThreadState& state = thread_state();
  if (state.device >= 0) return state.device;
  if (state.ascend_depth > 0) {
    throw Error(BNAPI_ERR_RT_CONTEXT_NULL, "no device is current on this thread; call aclrtSetDevice first");
  }
  if (devices().empty()) {
    const char* wanted = getenv("BNAPI_DEVICES");
    throw Error(BNAPI_ERR_RT_NO_DEVICE, std::string("no device: BNAPI_DEVICES is \"") +
                                            (wanted != nullptr ? wanted : "") + "\"" +
                                            (no_cuda_why_.empty() ? "" : "; cuda: " + no_cuda_why_));
  }
  return 0;
}

void Runtime::synchronize_device(int32_t id) {
  const DeviceInfo& info = device(id);
  streams.for_each([id](const std::shared_ptr<StreamObject>& s) {
    if (s->device == id) s->stream->synchronize(-1);
  });
  std::shared_ptr<StreamObject> by_default;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!default_streams_.empty()) by_default = default_streams_[id];
  }
  if (by_default != nullptr) by_default->stream->synchronize(-1);
  info.backend->synchronize(info.ordinal);
}

// ---- memory
// --------------------------------------------------------------------------------------------------

void* Runtime::allocate(int32_t device_id, size_t size_bytes, bool host) {
  const DeviceInfo& info = device(device_id);
  void* memory = host ? info.backend->allocate_host(info.ordinal, size_bytes)
                      : info.backend->allocate(info.ordinal, size_bytes);
  try {
    std::lock_guard<std::mutex> lock(mutex_);
    allocations_[reinterpret_cast<uintptr_t>(memory)] = {size_bytes, device_id, host};
  } catch (...) {
    host ? info.backend->release_host(info.ordinal, memory) : info.backend->release(info.ordinal, memory);
    throw;
  }
  return memory;
}

void Runtime::release(void* memory, bool host) {
  Allocation allocation;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = allocations_.find(reinterpret_cast<uintptr_t>(memory));
    if (found == allocations_.end() || found->second.host != host) {
      throw Error(BNAPI_ERR_RT_PARAM_INVALID, std::string("free: the address is not a live allocation of ") +
                                                  (host ? "bnapiMallocHost" : "bnapiMalloc"));
    }
    allocation = found->second;
    allocations_.erase(found);
  }
  // Queued work may still use the memory.
  synchronize_device(allocation.device);
  const DeviceInfo& info = device(allocation.device);
  host ? info.backend->release_host(info.ordinal, memory) : info.backend->release(info.ordinal, memory);
}

int32_t Runtime::device_of(const void* address, bool* host) {
  const uintptr_t a = reinterpret_cast<uintptr_t>(address);
  std::lock_guard<std::mutex> lock(mutex_);
  auto next = allocations_.upper_bound(a);
  if (next == allocations_.begin()) return -1;
  --next;
  if (a >= next->first + next->second.size_bytes) return -1;
  *host = next->second.host;
  return next->second.device;
}

// ---- streams and events
// --------------------------------------------------------------------------------------

std::shared_ptr<StreamObject> Runtime::default_stream(int32_t device_id) {
  const DeviceInfo& info = device(device_id);
  std::lock_guard<std::mutex> lock(mutex_);
  if (default_streams_.empty()) default_streams_.resize(devices_.size());
  std::shared_ptr<StreamObject>& stream = default_streams_[device_id];
  if (stream == nullptr) {
    stream =
        std::make_shared<StreamObject>(StreamObject{device_id, 0, info.backend->create_stream(info.ordinal)});
  }
  return stream;
}

std::shared_ptr<StreamObject> Runtime::stream(bnapiStream handle) {
  if (handle == nullptr) return default_stream(current_device());
  std::shared_ptr<StreamObject> found = streams.find(handle_bits(handle));
  if (found == nullptr) {
    throw Error(BNAPI_ERR_RT_INVALID_HANDLE, "stream: not a live stream (destroyed, or never one)");
  }
  return found;
}

uint64_t Runtime::add_stream(int32_t device_id, std::shared_ptr<Stream> stream) {
  return streams.insert(std::make_shared<StreamObject>(
      StreamObject{device_id, next_stream_id_.fetch_add(1, std::memory_order_relaxed), std::move(stream)}));
}

std::shared_ptr<EventObject> Runtime::event(bnapiEvent handle) {
  std::shared_ptr<EventObject> found = events.find(handle_bits(handle));
  if (found == nullptr) {
    throw Error(BNAPI_ERR_RT_INVALID_HANDLE, "event: not a live event (destroyed, or never one)");
  }
  return found;
}

// ---- start and end
// -------------------------------------------------------------------------------------------

bnapiStatus Runtime::init(const char* config_path) {
  if (config_path != nullptr && *config_path != '\0' && !std::ifstream(config_path).good()) {
    throw Error(BNAPI_ERR_INVALID_FILE, std::string("init: cannot read \"") + config_path + "\"");
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (init_state_ == 1) {
    throw Error(BNAPI_ERR_REPEAT_INITIALIZE, "init: the library is initialized already");
  }
  init_state_ = 1;
  return BNAPI_SUCCESS;
}

bnapiStatus Runtime::finalize() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (init_state_ == 2) {
      throw Error(BNAPI_ERR_REPEAT_FINALIZE, "finalize: the library is finalized already");
    }
    init_state_ = 2;
  }
  // Streams drain as they are destroyed; nothing else is in flight then.
  std::vector<std::shared_ptr<StreamObject>> defaults;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    defaults.swap(default_streams_);
  }
  streams.for_each([](const std::shared_ptr<StreamObject>& s) { s->stream->synchronize(-1); });
  for (const auto& s : defaults) {
    if (s) s->stream->synchronize(-1);
  }
  defaults.clear();
  executors.clear();
  streams.clear();
  events.clear();
  tensors.clear();
  scalars.clear();
  bool_arrays.clear();
  thread_state().device = -1;
  return BNAPI_SUCCESS;
}

// ---- fork
// ----------------------------------------------------------------------------------------------------

void Runtime::before_fork() {
  mutex_.lock();
  tensors.before_fork();
  scalars.before_fork();
  bool_arrays.before_fork();
  executors.before_fork();
  streams.before_fork();
  events.before_fork();
}

void Runtime::after_fork_in_parent() {
  events.after_fork_in_parent();
  streams.after_fork_in_parent();
  executors.after_fork_in_parent();
  bool_arrays.after_fork_in_parent();
  scalars.after_fork_in_parent();
  tensors.after_fork_in_parent();
  mutex_.unlock();
}

void Runtime::after_fork_in_child() {
  events.after_fork_in_child();
  streams.after_fork_in_child();
  executors.after_fork_in_child();
  bool_arrays.after_fork_in_child();
  scalars.after_fork_in_child();
  tensors.after_fork_in_child();
  // The parent's default streams belong to threads that are not here; they are left alive and untouched.
  new std::vector<std::shared_ptr<StreamObject>>(std::move(default_streams_));
  default_streams_.clear();
  mutex_.unlock();
}

}  // namespace bn
