#include "backends/cuda/stream.h"

#include <chrono>
#include <thread>

#include "backends/cuda/error.h"
#include "core/status.h"

namespace bn::cuda {
namespace {

using Clock = std::chrono::steady_clock;

// Asks until it is done or the time is up: CUDA has no wait with a limit. Short waits spin, longer ones sleep.
template <class Done>
bool poll(int32_t timeout_ms, Done done) {
  const Clock::time_point start = Clock::now();
  const Clock::time_point end = start + std::chrono::milliseconds(timeout_ms);
  const Clock::time_point spin_end = start + std::chrono::microseconds(100);
  for (;;) {
    if (done()) return true;
    const Clock::time_point now = Clock::now();
    if (now >= end) return false;
    if (now > spin_end) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// Questions about work are among what CUDA refuses while any thread captures a stream, and the refusal would spoil
// that capture. They do no harm to it: this thread asks to be let through.
class DuringCaptures {
 public:
  DuringCaptures() { ignore(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~DuringCaptures() { ignore(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  DuringCaptures(const DuringCaptures&) = delete;
  DuringCaptures& operator=(const DuringCaptures&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

bool ready(cudaError_t error, const char* what) {
  if (error == cudaErrorNotReady) {
    ignore(cudaGetLastError());
    return false;
  }
  check(error, what);
  return true;
}

// Work on the host that a stream waits for: an event of another backend.
void wait_on_host(void* argument) {
  auto* event = static_cast<std::shared_ptr<Event>*>(argument);
  try {
    (*event)->synchronize(-1);
  } catch (...) {
    // The event's own stream reports what went wrong; this one only waited.
  }
  delete event;
}

}  // namespace

// ---- events ------------------------------------------------------------------------------------------------

CudaEvent::CudaEvent(int ordinal) : ordinal_(ordinal) {
  DeviceScope scope(ordinal_);
  check(cudaEventCreateWithFlags(&event_, cudaEventDefault), "cudaEventCreate");
}

CudaEvent::~CudaEvent() {
  ignore(cudaEventDestroy(event_));
}

bool CudaEvent::query() {
  if (!recorded_ || captured_) return true;
  DuringCaptures scope;
  return ready(cudaEventQuery(event_), "cudaEventQuery");
}

bool CudaEvent::synchronize(int32_t timeout_ms) {
  if (!recorded_ || captured_) return true;
  if (timeout_ms >= 0) return poll(timeout_ms, [this] { return query(); });
  check(cudaEventSynchronize(event_), "cudaEventSynchronize");
  return true;
}

float CudaEvent::elapsed_ms(Event& end) {
  auto* other = dynamic_cast<CudaEvent*>(&end);
  if (other == nullptr) {
    throw Error(BNAPI_ERR_RT_EVENT_TIMESTAMP_INVALID, "cuda: the two events belong to different backends");
  }
  float elapsed = 0;
  check(cudaEventElapsedTime(&elapsed, event_, other->event_), "cudaEventElapsedTime");
  return elapsed;
}

void CudaEvent::record(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  check(cudaEventRecord(event_, stream), "cudaEventRecord");
  captured_ = status != cudaStreamCaptureStatusNone;
  recorded_ = true;
}

// ---- streams -----------------------------------------------------------------------------------------------

CudaStream::CudaStream(int ordinal) : ordinal_(ordinal), owned_(true) {
  DeviceScope scope(ordinal_);
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
}

CudaStream::CudaStream(int ordinal, cudaStream_t native)
    : ordinal_(ordinal), owned_(false), stream_(native) {}

CudaStream::~CudaStream() {
  // A caller's stream may be gone already, so that only our own is waited for.
  if (!owned_) return;
  ignore(cudaStreamSynchronize(stream_));
  ignore(cudaStreamDestroy(stream_));
}

bool CudaStream::query() {
  DeviceScope scope(ordinal_);
  DuringCaptures questions;
  return ready(cudaStreamQuery(stream_), "cudaStreamQuery");
}

bool CudaStream::synchronize(int32_t timeout_ms) {
  DeviceScope scope(ordinal_);
  if (timeout_ms >= 0) return poll(timeout_ms, [this] { return query(); });
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  return true;
}

void CudaStream::copy(void* dst, const void* src, size_t size_bytes) {
  DeviceScope scope(ordinal_);
  check(cudaMemcpyAsync(dst, src, size_bytes, cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
}

void CudaStream::set(void* dst, int value, size_t size_bytes) {
  DeviceScope scope(ordinal_);
  check(cudaMemsetAsync(dst, value, size_bytes, stream_), "cudaMemsetAsync");
}

void CudaStream::record(Event& event) {
  auto* mine = dynamic_cast<CudaEvent*>(&event);
  if (mine == nullptr || mine->ordinal() != ordinal_) {
    throw Error(BNAPI_ERR_RT_STREAM_CONTEXT, "cuda: the event belongs to another device than the stream");
  }
  DeviceScope scope(ordinal_);
  mine->record(stream_);
}

void CudaStream::wait(const std::shared_ptr<Event>& event) {
  if (!event->recorded()) return;
  DeviceScope scope(ordinal_);
  if (auto* mine = dynamic_cast<CudaEvent*>(event.get())) {
    check(cudaStreamWaitEvent(stream_, mine->native(), 0), "cudaStreamWaitEvent");
    return;
  }
  auto held = std::make_unique<std::shared_ptr<Event>>(event);
  check(cudaLaunchHostFunc(stream_, wait_on_host, held.get()), "cudaLaunchHostFunc");
  held.release();
}

}  // namespace bn::cuda
