#include "core/runtime.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>

#include "backends/cpu/plan.h"
#include "core/call.h"

namespace bn {
namespace {

// Runs steps that all have to be done, and keeps the first error for the end.
class FirstError {
 public:
  template <class Step>
  void run(Step step) {
    try {
      step();
    } catch (...) {
      if (first_ == nullptr) first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

Runtime& Runtime::get() {
  alignas(Runtime) static unsigned char storage[sizeof(Runtime)];
  static Runtime* const runtime = [] {
    auto* created = new (storage) Runtime;
    pthread_atfork([] { Runtime::get().before_fork(); }, [] { Runtime::get().after_fork_in_parent(); },
                   [] { Runtime::get().after_fork_in_child(); });
    return created;
  }();
  return *runtime;
}

Runtime::Runtime() = default;

namespace {
[[maybe_unused]] const Runtime& made_at_load = Runtime::get();
}  // namespace

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
  for (const DeviceInfo& device : from) {
    const auto same = [&](const DeviceInfo& other) {
      return other.backend == device.backend && other.ordinal == device.ordinal;
    };
    if (std::none_of(to.begin(), to.end(), same)) to.push_back(device);
  }
}

// One entry of BNAPI_DEVICES. `ordinal` is -1 for all devices of the backend.
struct Wanted {
  bool cuda;
  long ordinal;
};

bool parse_device(const std::string& text, Wanted* wanted) {
  *wanted = {text.compare(0, 4, "cuda") == 0, -1};
  if (text == "cpu" || text == "cuda") return true;
  if (text.compare(0, 5, "cuda:") != 0 || text.size() == 5 || text.size() > 5 + 4) return false;
  if (text.find_first_not_of("0123456789", 5) != std::string::npos) return false;
  wanted->ordinal = strtol(text.c_str() + 5, nullptr, 10);
  return true;
}

// The entries of a comma-separated list, without the blanks around them.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> entries;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const size_t first = std::min(list.find_first_not_of(" \t", begin), end);
    size_t last = end;
    while (last > first && (list[last - 1] == ' ' || list[last - 1] == '\t'))
      --last;
    entries.push_back(list.substr(first, last - first));
    begin = end + 1;
  }
  return entries;
}

}  // namespace

std::vector<DeviceInfo> Runtime::find_devices() {
  const char* value = getenv("BNAPI_DEVICES");
  const std::string list = value == nullptr || *value == '\0' ? "cuda,cpu" : value;
  std::vector<DeviceInfo> found;
  no_device_why_ = "BNAPI_DEVICES is \"" + list + "\"";
  for (const std::string& entry : split(list)) {
    Wanted wanted;
    if (!parse_device(entry, &wanted)) {
      // A typing error must not end on another device than the one that was meant.
      no_device_why_ += "; \"" + entry + "\" is none of cpu, cuda and cuda:N";
      return {};
    }
    // The driver is left alone unless it is asked for.
    std::string why;
    std::vector<DeviceInfo> there = devices_of(wanted.cuda ? cuda_backend(&why) : cpu_backend());
    if (!why.empty()) no_device_why_ += "; no cuda: " + why;
    if (wanted.ordinal >= 0) {
      const auto ordinal = static_cast<size_t>(wanted.ordinal);
      if (ordinal >= there.size()) {
        no_device_why_ += "; there is no " + entry;
        continue;
      }
      there = {there[ordinal]};
    }
    append(found, there);
  }
  return found;
}

const std::vector<DeviceInfo>& Runtime::devices() {
  if (!devices_found_.load(std::memory_order_acquire)) {
    std::lock_guard<std::mutex> lock(devices_mutex_);
    if (!devices_found_.load(std::memory_order_relaxed)) {
      std::vector<DeviceInfo> found = find_devices();
      default_streams_ = std::make_unique<std::atomic<uint64_t>[]>(found.size());
      devices_ = std::move(found);
      devices_found_.store(true, std::memory_order_release);
    }
  }
  return devices_;
}

const char* Runtime::build_info() {
  std::lock_guard<std::mutex> lock(devices_mutex_);
  if (build_info_.empty()) {
    std::string why;
    const bool cuda = cuda_backend(&why) != nullptr;
    build_info_ = "bn_api " + std::to_string(BNAPI_VERSION_MAJOR) + "." +
                  std::to_string(BNAPI_VERSION_MINOR) + "." + std::to_string(BNAPI_VERSION_PATCH) +
                  "; backends: cpu" + (cuda ? ", cuda" : " (no cuda: " + why + ")") +
                  "; cpu paths: " + cpu::isas_built() + "; in use: " + cpu::isa_in_use();
  }
  return build_info_.c_str();
}

const DeviceInfo& Runtime::device(int32_t id) {
  const std::vector<DeviceInfo>& all = devices();
  if (id < 0 || static_cast<size_t>(id) >= all.size()) {
    throw Error(BNAPI_ERR_RT_INVALID_DEVICEID,
                "device: " + std::to_string(id) + " does not exist; there are " + std::to_string(all.size()) +
                    (all.empty() ? ": " + no_device_why_ : ""));
  }
  return all[id];
}

int32_t Runtime::current_device() {
  const ThreadState& state = thread_state();
  if (state.device >= 0) return state.device;
  if (state.ascend_depth > 0) {
    throw Error(BNAPI_ERR_RT_CONTEXT_NULL, "no device is current on this thread; call aclrtSetDevice first");
  }
  if (devices().empty()) throw Error(BNAPI_ERR_RT_NO_DEVICE, "no device: " + no_device_why_);
  return 0;
}

void Runtime::synchronize_device(int32_t id) {
  const DeviceInfo& info = device(id);
  FirstError errors;
  streams.for_each([&](const std::shared_ptr<StreamObject>& s) {
    if (s->device == id && s->stream->owned()) errors.run([&] { s->stream->synchronize(-1); });
  });
  // Wrapped streams are the device's, too.
  errors.run([&] { info.backend->synchronize(info.ordinal); });
  errors.rethrow();
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
  // Queued work may still use the memory. If that work failed, the memory is released all the same.
  const DeviceInfo& info = device(allocation.device);
  FirstError errors;
  errors.run([&] { synchronize_device(allocation.device); });
  errors.run([&] {
    host ? info.backend->release_host(info.ordinal, memory) : info.backend->release(info.ordinal, memory);
  });
  errors.rethrow();
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
  std::atomic<uint64_t>& handle = default_streams_[device_id];
  std::shared_ptr<StreamObject> stream = streams.find(handle.load(std::memory_order_acquire));
  if (stream != nullptr) return stream;
  std::lock_guard<std::mutex> lock(mutex_);
  stream = streams.find(handle.load(std::memory_order_relaxed));
  if (stream == nullptr) {
    stream =
        std::make_shared<StreamObject>(StreamObject{device_id, 0, info.backend->create_stream(info.ordinal)});
    handle.store(streams.insert(stream), std::memory_order_release);
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

void Runtime::drain(const StreamObject& stream) {
  if (stream.stream->owned()) {
    stream.stream->synchronize(-1);
    return;
  }
  // It may be destroyed by now, with work left. The device waits for that as well.
  const DeviceInfo& info = device(stream.device);
  info.backend->synchronize(info.ordinal);
}

bool Runtime::destroy_stream(uint64_t handle) {
  const std::shared_ptr<StreamObject> taken = streams.take(handle);
  if (taken == nullptr) return false;
  drain(*taken);
  return true;
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

namespace {

bool is_readable_file(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  struct stat about;
  const bool readable = fstat(file, &about) == 0 && !S_ISDIR(about.st_mode);
  close(file);
  return readable;
}

}  // namespace

bnapiStatus Runtime::init(const char* config_path) {
  if (config_path != nullptr && *config_path != '\0' && !is_readable_file(config_path)) {
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
  // When the streams are drained nothing is in flight. Failed work does not keep anything alive.
  FirstError errors;
  streams.for_each([&](const std::shared_ptr<StreamObject>& s) { errors.run([&] { drain(*s); }); });
  executors.clear();
  streams.clear();
  events.clear();
  tensors.clear();
  scalars.clear();
  bool_arrays.clear();
  thread_state().device = -1;
  errors.rethrow();
  return BNAPI_SUCCESS;
}

// ---- fork
// ----------------------------------------------------------------------------------------------------

void Runtime::before_fork() {
  // What is made on first use is made now, so that the child does not inherit it half done.
  cpu_backend();
  cpu::isa_in_use();
  verbose();
  devices_mutex_.lock();
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
  devices_mutex_.unlock();
}

void Runtime::after_fork_in_child() {
  events.after_fork_in_child();
  streams.after_fork_in_child();
  executors.after_fork_in_child();
  bool_arrays.after_fork_in_child();
  scalars.after_fork_in_child();
  tensors.after_fork_in_child();
  mutex_.unlock();
  devices_mutex_.unlock();
}

}  // namespace bn
