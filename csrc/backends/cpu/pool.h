// The process-wide pool of threads that runs CPU work.
//
// Work comes as stages of numbered tasks. Threads claim task numbers with one atomic step; the thread that
// finishes a stage opens the next one. Waiting threads help: a caller that synchronizes a stream claims tasks
// of that stream itself, so that a single call does not wait for a thread to wake up. At most num_threads()
// threads compute at once.
//
// Nothing here needs memory once the threads run, and nothing throws: work that was accepted is done. If no
// thread can be had, the threads that submit work run it.
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
  // Set by the subclass before the work is submitted. Stages without tasks are skipped. Work without stages is
  // a job: finished() is all of it, and may submit the same job again.
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
  // The pool's list of work, guarded by its mutex.
  std::shared_ptr<Work> next_;
  bool listed_ = false;
};

// Hands the work to the pool.
void submit(const std::shared_ptr<Work>& work) noexcept;

// Runs tasks of the work in the calling thread, if there are any to claim and fewer than num_threads()
// threads compute; returns when there are none. False if it did nothing.
bool help(const std::shared_ptr<Work>& work) noexcept;

// Are there tasks that nobody has claimed?
bool has_tasks(const Work& work) noexcept;

inline constexpr int32_t kMaxThreads = 4096;

int32_t num_threads();
// 1 to kMaxThreads; more counts as kMaxThreads.
void set_num_threads(int32_t threads);

// For loops that look for a change before they sleep.
inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace bn::cpu
