#include "engine.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "block.h"
#include "counters.h"

namespace bn_simt {
namespace {

// What the real runtime's queue holds, about: a program that enqueues more waits.
constexpr size_t kMostPending = 1024;

std::atomic<bool> g_forked{false};
__thread int t_device = 0;
__thread cudaError_t t_last_error = cudaSuccess;
__thread cudaStreamCaptureMode t_capture_mode = cudaStreamCaptureModeGlobal;

struct Configuration {
  int devices = 1;
  cudaError_t error = cudaSuccess;
};

// BNAPI_SIMT_DEVICES: a number, "none", or "old-driver".
const Configuration& configuration() {
  static const Configuration instance = [] {
    Configuration c;
    if (const char* text = getenv("BNAPI_SIMT_DEVICES")) {
      if (strcmp(text, "none") == 0 || strcmp(text, "0") == 0) {
        c = {0, cudaErrorNoDevice};
      } else if (strcmp(text, "old-driver") == 0) {
        c = {0, cudaErrorInsufficientDriver};
      } else {
        c.devices = std::max(1, atoi(text));
      }
    }
    return c;
  }();
  return instance;
}

// The next operation of those that `op` needs that can run now; null if another thread is running it.
OpPtr find_runnable(OpPtr op) {
  for (;;) {
    if (op->running) return nullptr;
    const auto blocker =
        std::find_if(op->after.begin(), op->after.end(), [](const OpPtr& other) { return !other->done; });
    if (blocker == op->after.end()) return op;
    OpPtr next = *blocker;
    op = next;
  }
}

void run(Lock& lock, const OpPtr& op) {
  Device& device = *engine().devices[op->device];
  op->running = true;
  // After an error nothing runs on the device any more.
  if (op->run && device.sticky == cudaSuccess) {
    if (op->is_host_function) {
      lock.unlock();
      op->run();
      lock.lock();
    } else {
      device.sticky = op->run();
    }
  }
  op->time = std::chrono::steady_clock::now();
  op->running = false;
  op->done = true;
  op->run = nullptr;
  op->after.clear();
  engine().host_function_done.notify_all();
}

void forget_done() {
  std::deque<OpPtr>& pending = engine().pending;
  while (!pending.empty() && pending.front()->done)
    pending.pop_front();
}

}  // namespace

Engine& engine() {
  static Engine& instance = *[] {
    Engine* e = new Engine;
    for (int i = 0; i < configuration().devices; ++i) {
      e->devices.push_back(std::make_unique<Device>());
      e->devices.back()->legacy.device = i;
      e->devices.back()->legacy.is_legacy = true;
    }
    if (const char* schedule = getenv("BNAPI_SIMT_SCHEDULE")) {
      if (!set_schedule(schedule)) {
        fprintf(stderr, "bn_simt: BNAPI_SIMT_SCHEDULE=%s: order, reversed and random:SEED are known\n",
                schedule);
        abort();
      }
    }
    if (const char* sample = getenv("BNAPI_SIMT_SAMPLE"))
      set_sample(static_cast<unsigned>(atoi(sample)), nullptr);
    const char* report = getenv("BNAPI_SIMT_REPORT");
    if (report != nullptr && *report != '\0') set_counting(true);
    pthread_atfork(nullptr, nullptr, [] { g_forked = true; });
    return e;
  }();
  return instance;
}

int current_device() {
  return t_device;
}

uint64_t thread_number() {
  static std::atomic<uint64_t> count{0};
  static __thread uint64_t t_number = 0;
  if (t_number == 0) t_number = ++count;
  return t_number;
}

cudaError_t api(const std::function<cudaError_t(Lock&)>& body) {
  cudaError_t error = configuration().error;
  if (error == cudaSuccess && g_forked) error = cudaErrorInitializationError;
  if (error == cudaSuccess) {
    Engine& e = engine();
    Lock lock(e.mutex);
    // As cudaMalloc and the rest of them do on a device that has had an error.
    error = e.devices[t_device]->sticky;
    if (error == cudaSuccess) error = body(lock);
    forget_done();
    if (e.pending.size() > kMostPending) complete(lock, e.pending.front());
  }
  // "Not ready" is an answer.
  if (error != cudaSuccess && error != cudaErrorNotReady) t_last_error = error;
  return error;
}

cudaError_t refuse(cudaError_t error, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  engine().message = text;
  return error;
}

cudaStream_t find_stream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return &engine().devices[t_device]->legacy;
  const auto found = engine().streams.find(handle);
  return found == engine().streams.end() ? nullptr : *found;
}

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> run, bool is_host_function,
                    const OpPtr& also_after) {
  if (stream->capture) {
    Capture& capture = *stream->capture;
    capture.nodes.push_back({std::move(run), stream->capture_after});
    stream->capture_after = {capture.nodes.size() - 1};
    return cudaSuccess;
  }
  Engine& e = engine();
  OpPtr op = std::make_shared<Op>();
  op->device = stream->device;
  op->run = std::move(run);
  op->is_host_function = is_host_function;
  const auto after = [&op](const OpPtr& other) {
    if (other && !other->done) op->after.push_back(other);
  };
  after(stream->last);
  after(also_after);
  // The null stream and the streams that were not made non-blocking wait for each other.
  if (stream->is_legacy) {
    for (cudaStream_t other : e.streams) {
      if (other->device == stream->device && (other->flags & cudaStreamNonBlocking) == 0) after(other->last);
    }
  } else if ((stream->flags & cudaStreamNonBlocking) == 0) {
    after(e.devices[stream->device]->legacy.last);
  }
  stream->last = op;
  e.pending.push_back(op);
  return cudaSuccess;
}

bool run_one(Lock& lock, const OpPtr& op) {
  if (op->done) return false;
  const OpPtr runnable = find_runnable(op);
  if (runnable == nullptr) return false;
  run(lock, runnable);
  return true;
}

cudaError_t complete(Lock& lock, const OpPtr& op) {
  if (op == nullptr) return cudaSuccess;
  // The chain of what must run first is walked once: `path` leads from `op` to what runs next.
  std::vector<OpPtr> path = {op};
  while (!path.empty()) {
    const OpPtr top = path.back();
    if (top->done) {
      path.pop_back();
    } else if (top->running) {
      engine().host_function_done.wait(lock);
    } else {
      const auto blocker =
          std::find_if(top->after.begin(), top->after.end(), [](const OpPtr& other) { return !other->done; });
      if (blocker != top->after.end()) {
        path.push_back(*blocker);
      } else {
        run(lock, top);
      }
    }
  }
  return engine().devices[op->device]->sticky;
}

cudaError_t complete_device(Lock& lock, int device) {
  const std::deque<OpPtr> pending = engine().pending;
  for (const OpPtr& op : pending) {
    if (op->device == device) complete(lock, op);
  }
  return engine().devices[device]->sticky;
}

cudaError_t check_not_capturing() {
  if (t_capture_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  for (const auto& capture : engine().captures) {
    const bool own = capture->thread == thread_number() && capture->mode != cudaStreamCaptureModeRelaxed;
    const bool others =
        capture->mode == cudaStreamCaptureModeGlobal && t_capture_mode == cudaStreamCaptureModeGlobal;
    if (!own && !others) continue;
    capture->invalid = true;
    return refuse(cudaErrorStreamCaptureUnsupported, "this call is not allowed while a stream is captured");
  }
  return cudaSuccess;
}

cudaError_t check_not_captured(cudaStream_t stream) {
  if (!stream->capture) return cudaSuccess;
  stream->capture->invalid = true;
  return refuse(cudaErrorStreamCaptureUnsupported, "the stream is being captured");
}

}  // namespace bn_simt

using namespace bn_simt;

extern "C" {

cudaError_t cudaGetLastError(void) {
  const cudaError_t error = t_last_error;
  // Errors of the device stay until the process ends.
  const bool sticky = error == cudaSuccess || configuration().devices == 0
                          ? false
                          : engine().devices[t_device]->sticky == error;
  if (!sticky) t_last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError(void) {
  return t_last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define BN_SIMT_NAME(name, value, text) \
  case name:                            \
    return #name;
    BN_SIMT_ERRORS(BN_SIMT_NAME)
#undef BN_SIMT_NAME
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define BN_SIMT_TEXT(name, value, text) \
  case name:                            \
    return text;
    BN_SIMT_ERRORS(BN_SIMT_TEXT)
#undef BN_SIMT_TEXT
  }
  return "unrecognized error code";
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = configuration().error == cudaErrorInsufficientDriver ? 12040
             : configuration().error == cudaErrorNoDevice         ? 0
                                                                  : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  return api([=](Lock&) {
    *count = configuration().devices;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  if (configuration().error != cudaSuccess) return t_last_error = configuration().error;
  if (device < 0 || device >= configuration().devices) return t_last_error = cudaErrorInvalidDevice;
  t_device = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  if (configuration().error != cudaSuccess) return t_last_error = configuration().error;
  if (device == nullptr) return t_last_error = cudaErrorInvalidValue;
  *device = t_device;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
  return api([](Lock& lock) {
    if (const cudaError_t error = check_not_capturing()) return error;
    return complete_device(lock, t_device);
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (mode == nullptr) return t_last_error = cudaErrorInvalidValue;
  std::swap(*mode, t_capture_mode);
  return cudaSuccess;
}

bool bn_simt_set_schedule(const char* schedule) {
  const Lock lock(engine().mutex);
  return set_schedule(schedule);
}

void bn_simt_set_sample(unsigned blocks, const char* except) {
  const Lock lock(engine().mutex);
  set_sample(blocks, except);
}

void bn_simt_set_counting(bool on) {
  const Lock lock(engine().mutex);
  set_counting(on);
}

void bn_simt_set_loud(bool on) {
  const Lock lock(engine().mutex);
  engine().loud = on;
}

const char* bn_simt_report() {
  static thread_local std::string text;
  const Lock lock(engine().mutex);
  text = report_json();
  return text.c_str();
}

void bn_simt_reset_report() {
  const Lock lock(engine().mutex);
  reset_report();
}

const char* bn_simt_last_message() {
  static thread_local std::string text;
  const Lock lock(engine().mutex);
  text = engine().message;
  return text.c_str();
}

void bn_simt_reset() {
  Engine& e = engine();
  const Lock lock(e.mutex);
  for (const OpPtr& op : e.pending) {
    op->done = true;
    op->run = nullptr;
    op->after.clear();
  }
  e.pending.clear();
  for (cudaStream_t stream : e.streams)
    stream->capture = nullptr;
  e.captures.clear();
  for (auto& device : e.devices)
    device->sticky = cudaSuccess;
  e.message.clear();
  t_last_error = cudaSuccess;
}
}
