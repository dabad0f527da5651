// What a backend is: devices with memory, streams and events, and a way to run channel programs on them.
//
// Failures are bn::Error exceptions with the status of the public API. Backends keep no handles: the registry
// (core/registry.h) owns streams and events and never passes a dead one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/program.h"

namespace bn {

// A mark in a stream. Made by Backend::create_event; recorded by Stream::record.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool recorded() const = 0;
  // Has the latest mark been reached? True if never recorded, or recorded while its stream was being captured.
  virtual bool query() = 0;
  // Waits at most timeout_ms (-1: for ever); false if it did not happen in time.
  virtual bool synchronize(int32_t timeout_ms) = 0;
  // Milliseconds from this event to `end`; both are recorded and complete.
  virtual float elapsed_ms(Event& end) = 0;
};

// A FIFO queue of work. Destruction waits for the work.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual bool query() = 0;
  // Waits at most timeout_ms (-1: for ever); false if work was left. Throws the first asynchronous error.
  virtual bool synchronize(int32_t timeout_ms) = 0;
  virtual void copy(void* dst, const void* src, size_t size_bytes) = 0;
  virtual void set(void* dst, int value, size_t size_bytes) = 0;
  virtual void record(Event& event) = 0;
  // Later work waits for the event's latest mark, as it is now. The event may belong to another backend.
  virtual void wait(const std::shared_ptr<Event>& event) = 0;
  virtual void* native() const { return nullptr; }
  // False for a wrapped one, which its owner may destroy at any moment: only calls that name it touch it.
  virtual bool owned() const { return true; }
};

// How a backend runs one program: chosen in phase one, used by every run of the executor.
class BackendPlan {
 public:
  virtual ~BackendPlan() = default;
  uint64_t workspace_bytes = 0;
  // For BNAPI_VERBOSE: the path taken, e.g. "rows" or "channels_last".
  virtual std::string describe() const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* name() const = 0;  // "cpu", "cuda"
  // Devices are addressed by ordinals 0 .. device_count() - 1.
  virtual int device_count() const = 0;
  virtual std::string device_name(int ordinal) const = 0;

  virtual void* allocate(int ordinal, size_t size_bytes) = 0;
  virtual void release(int ordinal, void* memory) = 0;
  virtual void* allocate_host(int ordinal, size_t size_bytes) = 0;
  virtual void release_host(int ordinal, void* memory) = 0;
  virtual void memory_info(int ordinal, size_t* free_bytes, size_t* total_bytes) = 0;
  // Blocking copies and sets; either address may be host memory.
  virtual void copy(int ordinal, void* dst, const void* src, size_t size_bytes) = 0;
  virtual void set(int ordinal, void* dst, int value, size_t size_bytes) = 0;
  // Waits for everything on the device, whatever stream it is in.
  virtual void synchronize(int ordinal) = 0;

  virtual std::shared_ptr<Stream> create_stream(int ordinal) = 0;
  virtual std::shared_ptr<Stream> wrap_stream(int ordinal, void* native) = 0;
  virtual std::shared_ptr<Event> create_event(int ordinal) = 0;

  // Phase one. Looks at the program's shapes, strides and types; its data addresses are not set yet, and may be
  // of any alignment when they are.
  virtual std::shared_ptr<const BackendPlan> plan(int ordinal, const Program& program) = 0;
  // Phase two: enqueues the bound program. `workspace` has the planned size and 64-byte alignment; `name` is the
  // operator's, for profilers.
  virtual void launch(const char* name, const std::shared_ptr<const BackendPlan>& plan, const Program& bound,
                      void* workspace, Stream& stream) = 0;
};

// The backends of this build, or null where there is none or no driver (the reason is in *why). Each is created
// once and lives for ever.
Backend* cpu_backend();
Backend* cuda_backend(std::string* why);

}  // namespace bn
