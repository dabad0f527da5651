// CUDA streams and events behind the backend's interface.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>

#include "backends/backend.h"

namespace bn::cuda {

class CudaEvent : public Event {
 public:
  explicit CudaEvent(int ordinal);
  ~CudaEvent() override;

  bool recorded() const override { return recorded_; }
  bool query() override;
  bool synchronize(int32_t timeout_ms) override;
  float elapsed_ms(Event& end) override;

  void record(cudaStream_t stream);
  cudaEvent_t native() const { return event_; }
  int ordinal() const { return ordinal_; }

 private:
  const int ordinal_;
  cudaEvent_t event_ = nullptr;
  std::atomic<bool> recorded_{false};
  // The mark is part of a graph: CUDA tells nothing about it, and before the graph runs there is nothing to wait for.
  std::atomic<bool> captured_{false};
};

class CudaStream : public Stream {
 public:
  // Creates a stream of our own.
  explicit CudaStream(int ordinal);
  // Wraps a caller's stream, which stays the caller's.
  CudaStream(int ordinal, cudaStream_t native);
  ~CudaStream() override;

  bool query() override;
  bool synchronize(int32_t timeout_ms) override;
  void copy(void* dst, const void* src, size_t size_bytes) override;
  void set(void* dst, int value, size_t size_bytes) override;
  void record(Event& event) override;
  void wait(const std::shared_ptr<Event>& event) override;
  void* native() const override { return stream_; }
  bool owned() const override { return owned_; }

  int ordinal() const { return ordinal_; }

 private:
  const int ordinal_;
  const bool owned_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace bn::cuda
