// CPU streams and events.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
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
  void reach() noexcept;
  // False if it is reached already; otherwise the waiter's stream goes on when it is.
  bool when_reached(const std::shared_ptr<Waiter>& waiter) noexcept;
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

// A queue of items, run one after the other. Small items run at once in the calling thread when the queue is empty,
// and behind others in whatever thread drives the queue; larger copies and programs are work for the pool.
//
// "Driven" means that some thread, a job or work in the pool, or a mark that will be reached, goes on with the
// queue: whoever has that duty passes it on or takes the last item. Calling threads never drive: they run their
// own item, so that nobody is kept busy with what other threads enqueue.
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
  class TaskItem;
  class CopyItem;
  class SetItem;
  class ProgramItem;
  class RecordItem;
  class WaitItem;

  // The job of the pool that drives this stream.
  class Driver final : public Work {
   public:
    explicit Driver(CpuStream* stream) : stream_(stream) {}

   protected:
    void run(int, int64_t) noexcept override {}
    void finished() noexcept override;

   private:
    CpuStream* stream_;
  };

  // Runs the body in the calling thread if nothing is queued; false if something is.
  template <class Body>
  bool run_at_once(const Body& body);
  void enqueue(std::shared_ptr<Item> item);

  // Called with the lock held, by the thread that has the duty to drive.
  void drive(std::unique_lock<std::mutex>& lock);         // goes on here
  void pass_to_pool(std::unique_lock<std::mutex>& lock);  // lets the pool go on
  bool start(std::unique_lock<std::mutex>& lock, const std::shared_ptr<CpuStream>& self);
  void pop();
  void complete();

  // The item at the front, work in the pool, is over: the calling thread, one of the pool, drives on.
  void advance() noexcept;
  // The item at the front, a wait, is over: the pool drives on.
  void resume() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Item> front_;
  Item* back_ = nullptr;
  bool driven_ = false;
  uint64_t enqueued_ = 0;
  std::atomic<uint64_t> completed_{0};
  std::shared_ptr<Work> in_pool_;  // the item at the front, while the pool runs it
  std::atomic<uint64_t> sent_{0};  // counts items sent to the pool
  Driver driver_{this};
};

}  // namespace bn::cpu
