// Streams and events.
#include <algorithm>
#include <memory>

#include "engine.h"

namespace bn_simt {
namespace {

cudaError_t no_such_stream() {
  return refuse(cudaErrorInvalidResourceHandle, "not a stream");
}
cudaError_t no_such_event() {
  return refuse(cudaErrorInvalidResourceHandle, "not an event");
}

bool is_event(cudaEvent_t event) {
  return engine().events.count(event) != 0;
}

cudaError_t check_not_captured(cudaEvent_t event) {
  if (!event->capture) return cudaSuccess;
  event->capture->invalid = true;
  return refuse(cudaErrorCapturedEvent, "the event was recorded in a stream that is being captured");
}

// The stream joins the capture that the event was recorded in.
cudaError_t wait_captured(cudaStream_t stream, cudaEvent_t event) {
  if (!event->capture) {
    stream->capture->invalid = true;
    return refuse(cudaErrorStreamCaptureIsolation,
                  "a captured stream waits for an event from outside the capture");
  }
  if (stream->capture && stream->capture != event->capture) {
    return refuse(cudaErrorStreamCaptureIsolation, "two captures cannot wait for each other");
  }
  if (!stream->capture) {
    stream->capture = event->capture;
    stream->capture_after.clear();
    stream->capture->streams.push_back(stream);
  }
  for (const size_t node : event->capture_nodes)
    stream->capture_after.push_back(node);
  return cudaSuccess;
}

}  // namespace
}  // namespace bn_simt

using namespace bn_simt;

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int) {
  return api([=](Lock&) {
    if (stream == nullptr || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    *stream = new CUstream_st;
    (*stream)->device = current_device();
    (*stream)->flags = flags;
    engine().streams.insert(*stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

// As in CUDA, the call does not wait: what is in the stream still runs.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return api([=](Lock&) {
    if (engine().streams.count(stream) == 0) return no_such_stream();
    if (const cudaError_t error = check_not_captured(stream)) return error;
    engine().streams.erase(stream);
    delete stream;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return api([=](Lock& lock) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return no_such_stream();
    if (const cudaError_t error = check_not_captured(stream)) return error;
    if (const cudaError_t error = check_not_capturing()) return error;
    // Every question moves the work on, so that asking again and again comes to an end.
    const OpPtr last = stream->last;
    if (last == nullptr || last->done) return cudaSuccess;
    run_one(lock, last);
    return cudaErrorNotReady;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return api([=](Lock& lock) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return no_such_stream();
    if (const cudaError_t error = check_not_captured(stream)) return error;
    if (stream->is_legacy) {
      if (const cudaError_t error = check_not_capturing()) return error;
      enqueue(stream, nullptr);  // waits for the blocking streams, too
    }
    const OpPtr last = stream->last;
    return complete(lock, last);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int) {
  return api([=](Lock&) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return no_such_stream();
    if (!is_event(event)) return no_such_event();
    if (stream->capture || event->capture) return wait_captured(stream, event);
    if (event->op == nullptr || event->op->done) return cudaSuccess;
    return enqueue(stream, nullptr, false, event->op);
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int* flags) {
  return api([=](Lock&) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return no_such_stream();
    *flags = stream->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return api([=](Lock&) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return no_such_stream();
    *device = stream->device;
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* user_data) {
  return api([=](Lock&) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return no_such_stream();
    if (function == nullptr) return cudaErrorInvalidValue;
    return enqueue(
        stream,
        [=] {
          function(user_data);
          return cudaSuccess;
        },
        true);
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return api([=](Lock&) {
    if (event == nullptr) return cudaErrorInvalidValue;
    *event = new CUevent_st;
    (*event)->device = current_device();
    (*event)->flags = flags;
    engine().events.insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api([=](Lock&) {
    if (!is_event(event)) return no_such_event();
    engine().events.erase(event);
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  return api([=](Lock&) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return no_such_stream();
    if (!is_event(event)) return no_such_event();
    if (event->device != stream->device)
      return refuse(cudaErrorInvalidResourceHandle, "event and stream of different devices");
    if (stream->capture) {
      event->capture = stream->capture;
      event->capture_nodes = stream->capture_after;
      event->op = nullptr;
      return cudaSuccess;
    }
    enqueue(stream, nullptr);
    event->capture = nullptr;
    event->op = stream->last;
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return api([=](Lock& lock) {
    if (!is_event(event)) return no_such_event();
    if (const cudaError_t error = check_not_captured(event)) return error;
    if (const cudaError_t error = check_not_capturing()) return error;
    const OpPtr op = event->op;
    if (op == nullptr || op->done) return cudaSuccess;
    run_one(lock, op);
    return cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return api([=](Lock& lock) {
    if (!is_event(event)) return no_such_event();
    if (const cudaError_t error = check_not_captured(event)) return error;
    const OpPtr op = event->op;
    return complete(lock, op);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return api([=](Lock&) {
    if (!is_event(start) || !is_event(end)) return no_such_event();
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    if (((start->flags | end->flags) & cudaEventDisableTiming) != 0 || start->op == nullptr ||
        end->op == nullptr)
      return refuse(cudaErrorInvalidResourceHandle, "an event was never recorded, or made without timing");
    if (!start->op->done || !end->op->done) return cudaErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(end->op->time - start->op->time).count();
    return cudaSuccess;
  });
}
}
