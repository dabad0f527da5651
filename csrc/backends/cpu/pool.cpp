#include "backends/cpu/pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace bn::cpu {
namespace {

constexpr int kStageShift = 56;
constexpr uint64_t kTaskMask = (uint64_t{1} << kStageShift) - 1;

// How long a thread that ran out of work looks for more before it sleeps: waking it costs about as much.
constexpr std::chrono::microseconds kSpin{20};

int32_t positive(const char* name) {
  const char* value = getenv(name);
  if (value == nullptr) return 0;
  const long number = strtol(value, nullptr, 10);  // OMP_NUM_THREADS may be a list; its first entry counts
  return number >= 1 ? static_cast<int32_t>(std::min(number, 4096L)) : 0;
}

int32_t default_threads() {
  if (const int32_t wanted = positive("BNAPI_NUM_THREADS")) return wanted;
  if (const int32_t wanted = positive("OMP_NUM_THREADS")) return wanted;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::atomic<int32_t>& thread_limit() {
  static std::atomic<int32_t> limit{default_threads()};
  return limit;
}

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

class Pool {
 public:
  static Pool& get();

  void submit(const std::shared_ptr<Work>& work) {
    // The stages before the first one with tasks are over.
    if (!open_stage(*work, 0)) {
      work->finished();
      return;
    }
    if (!ensure_workers()) {
      drain(*work);
      return;
    }
    if (!publish(work)) run_tasks(work);
  }

  bool help(const std::shared_ptr<Work>& work) {
    if (!claimable(*work) || !enter()) return false;
    const bool did = run_tasks(work);
    leave();
    return did;
  }

  // fork(): the mutex is held across it; the child starts with a new pool, since the threads are not there.
  static void before_fork() { get().mutex_.lock(); }
  static void after_fork_in_parent() { get().mutex_.unlock(); }
  static void after_fork_in_child() {
    // The old pool stays reachable and untouched: its condition variable may be in any state.
    Pool* fresh = new Pool;
    fresh->predecessor_ = instance().load();
    instance().store(fresh);
  }

 private:
  static std::atomic<Pool*>& instance() {
    static std::atomic<Pool*> pool{nullptr};
    return pool;
  }

  // ---- claiming tasks ----

  static int stage_of(uint64_t claim) { return static_cast<int>(claim >> kStageShift); }

  static bool claimable(const Work& work) {
    const uint64_t claim = work.claim_.load(std::memory_order_acquire);
    const int stage = stage_of(claim);
    return stage < work.stages_ && static_cast<int64_t>(claim & kTaskMask) < work.tasks_[stage];
  }

  static bool claim(Work& work, int* stage, int64_t* task) {
    uint64_t claim = work.claim_.load(std::memory_order_acquire);
    for (;;) {
      *stage = stage_of(claim);
      *task = static_cast<int64_t>(claim & kTaskMask);
      if (*stage >= work.stages_ || *task >= work.tasks_[*stage]) return false;
      if (work.claim_.compare_exchange_weak(claim, claim + 1, std::memory_order_acq_rel)) return true;
    }
  }

  // Opens the first stage from `stage` on that has tasks; false if there is none.
  static bool open_stage(Work& work, int stage) {
    while (stage < work.stages_ && work.tasks_[stage] == 0)
      ++stage;
    work.done_.store(0, std::memory_order_relaxed);
    work.claim_.store(static_cast<uint64_t>(stage) << kStageShift, std::memory_order_release);
    return stage < work.stages_;
  }

  // Runs what can be claimed. True if it ran anything.
  bool run_tasks(const std::shared_ptr<Work>& work) {
    bool did = false;
    int stage;
    int64_t task;
    while (claim(*work, &stage, &task)) {
      did = true;
      work->run(stage, task);
      if (work->done_.fetch_add(1, std::memory_order_acq_rel) + 1 < work->tasks_[stage]) {
        // There is more than this thread can do at once: get another one out of bed.
        if (sleepers_.load(std::memory_order_relaxed) > 0 && claimable(*work)) wake_one();
        continue;
      }
      if (open_stage(*work, stage + 1)) {
        publish(work);
      } else {
        work->finished();
      }
    }
    return did;
  }

  // Runs all of it in this thread.
  static void drain(Work& work) {
    for (int stage = 0; stage < work.stages_; ++stage) {
      for (int64_t task = 0; task < work.tasks_[stage]; ++task)
        work.run(stage, task);
    }
    work.claim_.store(static_cast<uint64_t>(work.stages_) << kStageShift, std::memory_order_release);
    work.finished();
  }

  // ---- the list of work with tasks to claim ----

  // Puts the work on the list and wakes threads. False if there was no memory for the list's entry: the
  // calling thread then runs the tasks alone.
  bool publish(const std::shared_ptr<Work>& work) noexcept {
    const uint64_t claim = work->claim_.load(std::memory_order_relaxed);
    const int64_t tasks = work->tasks_[stage_of(claim)];
    // One thread fewer than could be used: the caller is likely to wait for its result, and helps then.
    const int64_t wanted = std::max<int64_t>(1, std::min<int64_t>(tasks, num_threads()) - 1);
    int64_t wake;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      try {
        runnable_.push_back(work);
      } catch (const std::bad_alloc&) {
        return false;
      }
      epoch_.fetch_add(1, std::memory_order_release);
      wake = std::min<int64_t>(wanted, sleepers_.load(std::memory_order_relaxed));
    }
    for (int64_t i = 0; i < wake; ++i)
      wake_.notify_one();
    return true;
  }

  void wake_one() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
    }
    wake_.notify_one();
  }

  // The first work with something to claim; exhausted work is dropped from the list. Called with the mutex
  // held.
  std::shared_ptr<Work> pick() {
    while (!runnable_.empty()) {
      if (claimable(*runnable_.front())) return runnable_.front();
      runnable_.pop_front();
    }
    return nullptr;
  }

  // ---- threads ----

  // At most num_threads() threads compute at once.
  bool enter() {
    int32_t active = active_.load(std::memory_order_relaxed);
    while (active < num_threads()) {
      if (active_.compare_exchange_weak(active, active + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  void leave() {
    active_.fetch_sub(1, std::memory_order_acq_rel);
    // A worker may have been turned away at the door while there was work. It went to sleep under the mutex,
    // so from here on either it is seen asleep or it sees this place free.
    bool more;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      more = sleepers_.load(std::memory_order_relaxed) > 0 && pick() != nullptr;
    }
    if (more) wake_.notify_one();
  }

  // True if there is at least one worker; tries to have num_threads() of them.
  bool ensure_workers() {
    if (workers_.load(std::memory_order_acquire) >= num_threads()) return true;
    std::lock_guard<std::mutex> lock(mutex_);
    while (workers_.load(std::memory_order_relaxed) < num_threads()) {
      try {
        std::thread([this] { serve(); }).detach();
      } catch (const std::system_error&) {
        break;
      } catch (const std::bad_alloc&) {
        break;
      }
      workers_.fetch_add(1, std::memory_order_release);
    }
    return workers_.load(std::memory_order_relaxed) > 0;
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      const std::shared_ptr<Work> work = pick();
      if (work != nullptr && enter()) {
        lock.unlock();
        run_tasks(work);
        leave();
        spin();
        lock.lock();
        continue;
      }
      sleepers_.fetch_add(1, std::memory_order_relaxed);
      wake_.wait(lock);
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  // Looks for new work for a short while.
  void spin() {
    const uint64_t seen = epoch_.load(std::memory_order_acquire);
    const auto until = std::chrono::steady_clock::now() + kSpin;
    while (epoch_.load(std::memory_order_acquire) == seen && std::chrono::steady_clock::now() < until) {
      for (int i = 0; i < 16; ++i)
        pause_cpu();
    }
  }

  std::mutex mutex_;  // guards runnable_, and sleeping
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Work>> runnable_;
  std::atomic<uint64_t> epoch_{0};  // counts publications, for spin()
  std::atomic<int32_t> sleepers_{0};
  std::atomic<int32_t> workers_{0};
  std::atomic<int32_t> active_{0};
  Pool* predecessor_ = nullptr;
};

Pool& Pool::get() {
  static std::once_flag once;
  std::call_once(once, [] {
    instance().store(new Pool);
    pthread_atfork(&Pool::before_fork, &Pool::after_fork_in_parent, &Pool::after_fork_in_child);
  });
  return *instance().load(std::memory_order_acquire);
}

void submit(const std::shared_ptr<Work>& work) {
  Pool::get().submit(work);
}

bool help(const std::shared_ptr<Work>& work) {
  return Pool::get().help(work);
}

int32_t num_threads() {
  return thread_limit().load(std::memory_order_relaxed);
}

void set_num_threads(int32_t threads) {
  thread_limit().store(threads, std::memory_order_relaxed);
}

}  // namespace bn::cpu
