// The process-wide pool of threads that runs CPU work.
//
// Work comes as stages of numbered tasks. Threads claim task numbers with one atomic step; the thread that
// finishes a stage opens the next one. Waiting threads help: a caller that synchronizes a stream claims tasks
// of that stream itself, so that a single call does not wait for a thread to wake up. At most num_threads()
// threads compute at once.
//
// Not OpenMP: its runtime hangs a forked child, ends the process when a thread cannot be made, and hides
// races from the thread sanitizer.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace bn::cpu {

class Work {
 public:
  virtual ~Work() = default;

 protected:
  static constexpr int kMaxStages = 4;
  // Set by the subclass before the work is submitted. Stages without tasks are skipped.
  int stages_ = 0;
  int64_t tasks_[kMaxStages] = {};

  virtual void run(int stage, int64_t task) noexcept = 0;
  // Called once, by the thread that finished the last task.
  virtual void finished() noexcept = 0;

 private:
  friend class Pool;
  // Stage in the upper 8 bits, next unclaimed task in the rest.
  std::atomic<uint64_t> claim_{0};
  std::atomic<int64_t> done_{0};  // tasks finished in the current stage
};

// Hands the work to the pool. If no thread can be had, the caller runs it.
void submit(const std::shared_ptr<Work>& work);

// Runs tasks of the work in the calling thread, if there are any to claim and fewer than num_threads()
// threads compute; returns when there are none. False if it did nothing.
bool help(const std::shared_ptr<Work>& work);

int32_t num_threads();
void set_num_threads(int32_t threads);

}  // namespace bn::cpu
