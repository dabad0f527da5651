// CPU streams and events.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "backends/backend.h"
#include "backends/cpu/plan.h"
#include "backends/cpu/pool.h"

namespace bn::cpu {

class CpuStream;

// A stream that waits for a mark. Marks keep their waiters in a list of them, which needs no memory that
// might be missing when a thread of the pool gets there.
struct Waiter {
  std::shared_ptr<CpuStream> stream;
  std::shared_ptr<Waiter> next;
};

// One recording of an event: reached once, never reset. Recording again makes a new mark.
class Mark {
 public:
  bool reached() const;
  // Waits at most timeout_ms; -1: for ever.
  bool wait(int32_t timeout_ms);
  // Marks it reached now and lets the streams that wait for it go on.
  void reach();
  // False if it is reached already; otherwise the waiter's stream goes on when it is.
  bool when_reached(const std::shared_ptr<Waiter>& waiter);
  std::chrono::steady_clock::time_point time() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
  std::chrono::steady_clock::time_point time_;
  std::shared_ptr<Waiter> waiting_;
};

class CpuEvent : public Event {
 public:
  bool recorded() const override { return latest() != nullptr; }
  bool query() override;
  bool synchronize(int32_t timeout_ms) override;
  float elapsed_ms(Event& end) override;

  std::shared_ptr<Mark> latest() const;
  void set(std::shared_ptr<Mark> mark);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Mark> mark_;
};

// A queue of items, run one after the other. An item that is small runs at once in the calling thread when
// the queue is empty; programs of some size go to the pool.
class CpuStream : public Stream, public std::enable_shared_from_this<CpuStream> {
 public:
  bool query() override;
  bool synchronize(int32_t timeout_ms) override;
  void copy(void* dst, const void* src, size_t size_bytes) override;
  void set(void* dst, int value, size_t size_bytes) override;
  void record(Event& event) override;
  void wait(const std::shared_ptr<Event>& event) override;
  void launch(const std::shared_ptr<const Plan>& plan, const Program& bound, void* workspace);

 private:
  friend class Mark;
  class Item;
  class CopyItem;
  class SetItem;
  class RecordItem;
  class WaitItem;
  class ProgramItem;

  void enqueue(const std::shared_ptr<Item>& item);
  // Runs items until the queue is empty or the one at the front goes on elsewhere. Called with the lock held
  // by the only thread that drives the stream.
  void drive(std::unique_lock<std::mutex>& lock);
  // The item at the front is over.
  void advance();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Item>> queue_;
  bool driven_ = false;  // some thread, or an item in flight, will go on with the queue
  uint64_t enqueued_ = 0;
  uint64_t completed_ = 0;
  std::shared_ptr<Work> in_pool_;  // the program at the front, while the pool runs it
};

}  // namespace bn::cpu
