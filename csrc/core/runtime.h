// The library's state: devices, live objects, what each thread has current.
//
// It is made when the library is loaded and never destroyed, so that a child forked at any moment finds it whole,
// and work that is still running at process exit never meets a destroyed object.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "core/executor.h"
#include "core/registry.h"
#include "core/status.h"
#include "core/tensor.h"

namespace bn {

struct DeviceInfo {
  Backend* backend = nullptr;
  int ordinal = 0;
  std::string name;
};

struct StreamObject {
  int32_t device = 0;
  int32_t id = 0;  // small and unique, for people and for aclrtStreamGetId
  std::shared_ptr<Stream> stream;
};

struct EventObject {
  int32_t device = 0;
  std::shared_ptr<Event> event;
};

// What is current on a thread.
struct ThreadState {
  int32_t device = -1;   // -1: none chosen yet
  int ascend_depth = 0;  // inside a call through an acl name
};
ThreadState& thread_state();

class Runtime {
 public:
  static Runtime& get();

  // ---- devices ----
  const std::vector<DeviceInfo>& devices();
  // Throws BNAPI_ERR_RT_INVALID_DEVICEID.
  const DeviceInfo& device(int32_t id);
  // The thread's device, 0 if it chose none (through an acl name: BNAPI_ERR_RT_CONTEXT_NULL). Throws
  // BNAPI_ERR_RT_NO_DEVICE if there is none at all.
  int32_t current_device();
  void synchronize_device(int32_t id);
  // For bnapiGetBuildInfo. Throws std::bad_alloc.
  const char* build_info();

  // ---- memory ----
  void* allocate(int32_t device, size_t size_bytes, bool host);
  // Throws BNAPI_ERR_RT_PARAM_INVALID for an address that is not ours.
  void release(void* memory, bool host);
  // The device of an address inside one of our allocations, or -1. *host: is it host memory?
  int32_t device_of(const void* address, bool* host);

  // ---- streams ----
  // NULL is the current device's default stream. Throws BNAPI_ERR_RT_INVALID_HANDLE.
  std::shared_ptr<StreamObject> stream(bnapiStream handle);
  std::shared_ptr<StreamObject> default_stream(int32_t device);
  // Waits for the work of a stream that is about to go. Throws its first error.
  void drain(const StreamObject& stream);
  // False if the handle is not a live stream's. The stream is gone also if its work failed, which is thrown.
  bool destroy_stream(uint64_t handle);
  uint64_t add_stream(int32_t device, std::shared_ptr<Stream> stream);
  std::shared_ptr<EventObject> event(bnapiEvent handle);

  // ---- start and end ----
  bnapiStatus init(const char* config_path);
  bnapiStatus finalize();

  // fork(): see registry.h.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

  Registry<const Tensor, Kind::kTensor> tensors;
  Registry<const Scalar, Kind::kScalar> scalars;
  Registry<const BoolArray, Kind::kBoolArray> bool_arrays;
  Registry<Executor, Kind::kExecutor> executors;
  Registry<StreamObject, Kind::kStream> streams;
  Registry<EventObject, Kind::kEvent> events;

 private:
  Runtime();
  std::vector<DeviceInfo> find_devices();

  struct Allocation {
    size_t size_bytes;
    int32_t device;
    bool host;
  };

  // Found on first use, under devices_mutex_, and fixed from then on.
  std::mutex devices_mutex_;
  std::atomic<bool> devices_found_{false};
  std::vector<DeviceInfo> devices_;
  std::string no_device_why_;
  std::string build_info_;

  std::mutex mutex_;  // guards what follows
  std::map<uintptr_t, Allocation> allocations_;
  // By device, the handle of its default stream; 0 or a dead one before it is used (after bnapiFinalize, or in a
  // forked child).
  std::unique_ptr<std::atomic<uint64_t>[]> default_streams_;
  int init_state_ = 0;  // 0 untouched, 1 initialized, 2 finalized
  std::atomic<int32_t> next_stream_id_{1};
};

}  // namespace bn
