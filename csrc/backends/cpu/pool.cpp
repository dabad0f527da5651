#include "backends/cpu/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>

namespace bn::cpu {
namespace {

constexpr int kStageShift = 56;
constexpr uint64_t kTaskMask = (uint64_t{1} << kStageShift) - 1;

// How long a thread that ran out of work looks for more before it sleeps: longer than another one needs to end its
// last task, so that all are awake when the next call comes.
constexpr std::chrono::microseconds kSpin{100};

int32_t positive(const char* name) {
  const char* value = getenv(name);
  if (value == nullptr) return 0;
  const long number = strtol(value, nullptr, 10);  // OMP_NUM_THREADS may be a list; its first entry counts
  return number >= 1 ? static_cast<int32_t>(std::min<long>(number, kMaxThreads)) : 0;
}

int32_t default_threads() {
  if (const int32_t wanted = positive("BNAPI_NUM_THREADS")) return wanted;
  if (const int32_t wanted = positive("OMP_NUM_THREADS")) return wanted;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int32_t>(std::thread::hardware_concurrency()));
}

std::atomic<int32_t>& thread_limit() {
  static std::atomic<int32_t> limit{default_threads()};
  return limit;
}

}  // namespace

class Pool {
 public:
  static Pool& get();

  void submit(const std::shared_ptr<Work>& work) {
    // A first stage with tasks is open from the start, and somebody who helps may be at it already.
    if (work->stages_ > 0 && work->tasks_[0] == 0 && !open_stage(*work, 1)) {
      work->finished();
      return;
    }
    ensure_workers();
    publish(work);
    serve_alone();
  }

  bool help(const std::shared_ptr<Work>& work) {
    if (!claimable(*work) || !enter()) return false;
    const bool did = run_tasks(work);
    leave();
    serve_alone();
    return did;
  }

  static bool claimable(const Work& work) {
    const uint64_t claim = work.claim_.load(std::memory_order_acquire);
    const int stage = stage_of(claim);
    return stage < work.stages_ && static_cast<int64_t>(claim & kTaskMask) < work.tasks_[stage];
  }

 private:
  // ---- claiming tasks ----

  static int stage_of(uint64_t claim) { return static_cast<int>(claim >> kStageShift); }

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
    const Serving serving;
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

  void execute(const std::shared_ptr<Work>& work) {
    if (work->stages_ > 0) {
      run_tasks(work);
    } else {
      const Serving serving;
      work->finished();
    }
  }

  // ---- the list of work with tasks to claim ----

  // Puts the work on the list and wakes threads.
  void publish(const std::shared_ptr<Work>& work) {
    int64_t wanted = 1;
    if (work->stages_ > 0) {
      const int stage = stage_of(work->claim_.load(std::memory_order_acquire));
      if (stage >= work->stages_) return;  // others have done it already
      const int64_t tasks = work->tasks_[stage];
      // One thread fewer than could be used: the caller is likely to wait for its result, and helps then.
      wanted = std::max<int64_t>(1, std::min<int64_t>(tasks, num_threads()) - 1);
    }
    int64_t wake;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!work->listed_) {
        work->listed_ = true;
        Work* const added = work.get();
        (last_ == nullptr ? first_ : last_->next_) = work;
        last_ = added;
      }
      epoch_.fetch_add(1, std::memory_order_release);
      wake = std::min<int64_t>(wanted, sleepers_.load(std::memory_order_relaxed));
    }
    for (int64_t i = 0; i < wake; ++i)
      wake_.notify_one();
  }

  void wake_one() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
    }
    wake_.notify_one();
  }

  // The following three are called with the mutex held.

  std::shared_ptr<Work> pop() {
    std::shared_ptr<Work> work = std::move(first_);
    first_ = std::move(work->next_);
    if (first_ == nullptr) last_ = nullptr;
    work->listed_ = false;
    return work;
  }

  // Is there something to do? Drops exhausted work from the list.
  bool has_work() {
    while (first_ != nullptr) {
      if (first_->stages_ == 0 || claimable(*first_)) return true;
      pop();
    }
    return false;
  }

  // After has_work(). Work with tasks stays on the list for other threads; a job is the caller's.
  std::shared_ptr<Work> take() { return first_->stages_ == 0 ? pop() : first_; }

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
      more = sleepers_.load(std::memory_order_relaxed) > 0 && has_work();
    }
    if (more) wake_.notify_one();
  }

  // Tries to have num_threads() workers. They take no signals: those are for the program's own threads.
  void ensure_workers() {
    if (workers_.load(std::memory_order_acquire) >= num_threads()) return;
    std::lock_guard<std::mutex> lock(mutex_);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (workers_.load(std::memory_order_relaxed) < num_threads()) {
      pthread_t thread;
      if (pthread_create(&thread, nullptr, &Pool::serve, nullptr) != 0) break;
      pthread_setname_np(thread, "bn_api");
      pthread_detach(thread);
      workers_.fetch_add(1, std::memory_order_release);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  static void* serve(void*) {
    get().serve();
    return nullptr;
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      if (has_work() && enter()) {
        std::shared_ptr<Work> work = take();
        lock.unlock();
        execute(work);
        work.reset();
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

  // ---- without workers ----

  // Marks this thread as one that executes work: what is submitted meanwhile waits for it to come back, so that
  // a chain of work does not become a chain of calls.
  struct Serving {
    Serving() : outer(flag()) { flag() = true; }
    ~Serving() { flag() = outer; }
    Serving(const Serving&) = delete;
    Serving& operator=(const Serving&) = delete;
    static bool& flag() {
      thread_local bool serving = false;
      return serving;
    }
    const bool outer;
  };

  // Where no thread could be had, the caller does the work.
  void serve_alone() {
    if (workers_.load(std::memory_order_acquire) > 0 || Serving::flag()) return;
    std::unique_lock<std::mutex> lock(mutex_);
    while (has_work()) {
      std::shared_ptr<Work> work = take();
      lock.unlock();
      execute(work);
      work.reset();
      lock.lock();
    }
  }

  // ---- fork(): the mutex is held across it ----

  static void before_fork() {
    num_threads();  // a child must not inherit its initialization half done
    get().mutex_.lock();
  }
  static void after_fork_in_parent() { get().mutex_.unlock(); }

  // The child starts anew: none of the threads is there, and the condition variable may be in any state. Work
  // of the parent is kept where it can be found, and untouched.
  static void after_fork_in_child() {
    Pool& pool = get();
    if (pool.first_ != nullptr) {
      pool.last_->next_ = std::move(pool.parents_);
      pool.parents_ = std::move(pool.first_);
      pool.last_ = nullptr;
    }
    pool.sleepers_ = 0;
    pool.workers_ = 0;
    pool.active_ = 0;
    new (&pool.wake_) std::condition_variable;
    pool.mutex_.unlock();
  }

  std::mutex mutex_;  // guards the list, and sleeping
  std::condition_variable wake_;
  std::shared_ptr<Work> first_;
  Work* last_ = nullptr;
  std::atomic<uint64_t> epoch_{0};  // counts publications, for spin()
  std::atomic<int32_t> sleepers_{0};
  std::atomic<int32_t> workers_{0};
  std::atomic<int32_t> active_{0};
  std::shared_ptr<Work> parents_;
};

// Never destroyed: threads may be at work while the process exits.
Pool& Pool::get() {
  alignas(Pool) static unsigned char storage[sizeof(Pool)];
  static Pool* const pool = [] {
    auto* made = new (storage) Pool;
    pthread_atfork(&Pool::before_fork, &Pool::after_fork_in_parent, &Pool::after_fork_in_child);
    return made;
  }();
  return *pool;
}

namespace {
// Made as the library is loaded: a child forked while another thread makes it would wait for that thread.
[[maybe_unused]] const Pool& made_at_load = Pool::get();
}  // namespace

void submit(const std::shared_ptr<Work>& work) noexcept {
  Pool::get().submit(work);
}

bool help(const std::shared_ptr<Work>& work) noexcept {
  return Pool::get().help(work);
}

bool has_tasks(const Work& work) noexcept {
  return Pool::claimable(work);
}

int32_t num_threads() {
  return thread_limit().load(std::memory_order_relaxed);
}

void set_num_threads(int32_t threads) {
  thread_limit().store(std::min(threads, kMaxThreads), std::memory_order_relaxed);
}

}  // namespace bn::cpu
