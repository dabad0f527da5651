#include "backends/cpu/stream.h"

#include <cstring>
#include <utility>

#include "core/status.h"

namespace bn::cpu {
namespace {

using Clock = std::chrono::steady_clock;

// Programs that move less than this run in the calling thread: waking another one would take as long.
constexpr int64_t kInlineBytes = 128 * 1024;

// How long a waiting thread looks before it sleeps.
constexpr std::chrono::microseconds kSpin{30};

template <class Done>
bool spin_until(Done done) {
  const auto until = Clock::now() + kSpin;
  do {
    if (done()) return true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while (Clock::now() < until);
  return false;
}

// Waits on the condition for at most timeout_ms (-1: for ever).
template <class Done>
bool wait_for(std::condition_variable& condition, std::unique_lock<std::mutex>& lock, int32_t timeout_ms,
              Done done) {
  if (timeout_ms < 0) {
    condition.wait(lock, done);
    return true;
  }
  return condition.wait_for(lock, std::chrono::milliseconds(timeout_ms), done);
}

}  // namespace

// ---- events
// --------------------------------------------------------------------------------------------------

bool Mark::reached() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return reached_;
}

bool Mark::wait(int32_t timeout_ms) {
  std::unique_lock<std::mutex> lock(mutex_);
  return wait_for(changed_, lock, timeout_ms, [this] { return reached_; });
}

void Mark::reach() {
  std::shared_ptr<Waiter> waiting;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    time_ = Clock::now();
    reached_ = true;
    waiting.swap(waiting_);
  }
  changed_.notify_all();
  while (waiting != nullptr) {
    const std::shared_ptr<Waiter> waiter = std::move(waiting);
    waiting = std::move(waiter->next);
    std::exchange(waiter->stream, nullptr)->advance();
  }
}

bool Mark::when_reached(const std::shared_ptr<Waiter>& waiter) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (reached_) return false;
  waiter->next = std::move(waiting_);
  waiting_ = waiter;
  return true;
}

Clock::time_point Mark::time() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return time_;
}

std::shared_ptr<Mark> CpuEvent::latest() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return mark_;
}

void CpuEvent::set(std::shared_ptr<Mark> mark) {
  std::lock_guard<std::mutex> lock(mutex_);
  mark_ = std::move(mark);
}

bool CpuEvent::query() {
  const auto mark = latest();
  return mark == nullptr || mark->reached();
}

bool CpuEvent::synchronize(int32_t timeout_ms) {
  const auto mark = latest();
  return mark == nullptr || mark->wait(timeout_ms);
}

float CpuEvent::elapsed_ms(Event& end) {
  const auto elapsed = static_cast<CpuEvent&>(end).latest()->time() - latest()->time();
  return std::chrono::duration<float, std::milli>(elapsed).count();
}

// ---- items
// ---------------------------------------------------------------------------------------------------

class CpuStream::Item {
 public:
  virtual ~Item() = default;
  // Runs the item without the stream's lock. True: it is over. False: it goes on elsewhere, and ends with
  // advance().
  virtual bool run(const std::shared_ptr<CpuStream>& stream) = 0;
};

class CpuStream::CopyItem : public Item {
 public:
  CopyItem(void* dst, const void* src, size_t size_bytes) : dst_(dst), src_(src), size_bytes_(size_bytes) {}
  bool run(const std::shared_ptr<CpuStream>&) override {
    memmove(dst_, src_, size_bytes_);
    return true;
  }

 private:
  void* dst_;
  const void* src_;
  size_t size_bytes_;
};

class CpuStream::SetItem : public Item {
 public:
  SetItem(void* dst, int value, size_t size_bytes) : dst_(dst), value_(value), size_bytes_(size_bytes) {}
  bool run(const std::shared_ptr<CpuStream>&) override {
    memset(dst_, value_, size_bytes_);
    return true;
  }

 private:
  void* dst_;
  int value_;
  size_t size_bytes_;
};

class CpuStream::RecordItem : public Item {
 public:
  explicit RecordItem(std::shared_ptr<Mark> mark) : mark_(std::move(mark)) {}
  bool run(const std::shared_ptr<CpuStream>&) override {
    mark_->reach();
    return true;
  }

 private:
  std::shared_ptr<Mark> mark_;
};

class CpuStream::WaitItem : public Item {
 public:
  explicit WaitItem(std::shared_ptr<Mark> mark)
      : mark_(std::move(mark)), waiter_(std::make_shared<Waiter>()) {}
  bool run(const std::shared_ptr<CpuStream>& stream) override {
    waiter_->stream = stream;
    return !mark_->when_reached(waiter_);
  }

 private:
  std::shared_ptr<Mark> mark_;
  std::shared_ptr<Waiter> waiter_;
};

class CpuStream::ProgramItem : public Item, public Work, public std::enable_shared_from_this<ProgramItem> {
 public:
  ProgramItem(std::shared_ptr<const Plan> plan, const Program& bound, void* workspace)
      : plan_(std::move(plan)), program_(bound), workspace_(workspace) {
    stages_ = plan_->stages;
    std::copy(plan_->tasks, plan_->tasks + plan_->stages, tasks_);
  }

  bool run(const std::shared_ptr<CpuStream>& stream) override {
    stream_ = stream;
    {
      std::lock_guard<std::mutex> lock(stream->mutex_);
      stream->in_pool_ = shared_from_this();
    }
    submit(shared_from_this());
    return false;
  }

 protected:
  void run(int stage, int64_t task) noexcept override { run_task(program_, *plan_, workspace_, stage, task); }
  void finished() noexcept override { std::exchange(stream_, nullptr)->advance(); }

 private:
  std::shared_ptr<const Plan> plan_;
  Program program_;
  void* workspace_;
  std::shared_ptr<CpuStream> stream_;
};

// ---- streams
// -------------------------------------------------------------------------------------------------

void CpuStream::enqueue(const std::shared_ptr<Item>& item) {
  std::unique_lock<std::mutex> lock(mutex_);
  queue_.push_back(item);
  ++enqueued_;
  if (!driven_) drive(lock);
}

void CpuStream::drive(std::unique_lock<std::mutex>& lock) {
  driven_ = true;
  const std::shared_ptr<CpuStream> self = shared_from_this();
  while (!queue_.empty()) {
    const std::shared_ptr<Item> item = queue_.front();
    lock.unlock();
    const bool over = item->run(self);
    lock.lock();
    if (!over) return;  // advance() goes on, and may have done so already
    queue_.pop_front();
    ++completed_;
    changed_.notify_all();
  }
  driven_ = false;
}

void CpuStream::advance() {
  std::unique_lock<std::mutex> lock(mutex_);
  in_pool_ = nullptr;
  queue_.pop_front();
  ++completed_;
  changed_.notify_all();
  drive(lock);
}

bool CpuStream::query() {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_ == enqueued_;
}

bool CpuStream::synchronize(int32_t timeout_ms) {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t target = enqueued_;
  const auto done = [&] { return completed_ >= target; };
  if (done() || timeout_ms == 0) return done();
  const auto until = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (!done()) {
    // Take part in the program at the front rather than wait for it.
    const std::shared_ptr<Work> work = in_pool_;
    lock.unlock();
    const bool helped = work != nullptr && help(work);
    if (!helped) {
      spin_until([&] {
        std::lock_guard<std::mutex> spinning(mutex_);
        return done() || (in_pool_ != nullptr && in_pool_ != work);
      });
    }
    lock.lock();
    if (done()) return true;
    if (timeout_ms >= 0 && Clock::now() >= until) return false;
    if (helped || (in_pool_ != nullptr && in_pool_ != work)) continue;
    const auto changed = [&] { return done() || (in_pool_ != nullptr && in_pool_ != work); };
    if (timeout_ms < 0) {
      changed_.wait(lock, changed);
    } else {
      changed_.wait_until(lock, until, changed);
    }
  }
  return true;
}

void CpuStream::copy(void* dst, const void* src, size_t size_bytes) {
  enqueue(std::make_shared<CopyItem>(dst, src, size_bytes));
}

void CpuStream::set(void* dst, int value, size_t size_bytes) {
  enqueue(std::make_shared<SetItem>(dst, value, size_bytes));
}

void CpuStream::record(Event& event) {
  auto mark = std::make_shared<Mark>();
  // The event takes the mark only once it is certain to be reached.
  enqueue(std::make_shared<RecordItem>(mark));
  static_cast<CpuEvent&>(event).set(std::move(mark));
}

void CpuStream::wait(const std::shared_ptr<Event>& event) {
  auto mark = static_cast<CpuEvent&>(*event).latest();
  if (mark == nullptr || mark->reached()) return;
  enqueue(std::make_shared<WaitItem>(std::move(mark)));
}

void CpuStream::launch(const std::shared_ptr<const Plan>& plan, const Program& bound, void* workspace) {
  if (plan->work_bytes <= kInlineBytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!driven_) {
      // The fast path: nothing is queued, so this thread may run the program at once. What others enqueue
      // meanwhile waits behind it.
      driven_ = true;
      ++enqueued_;
      lock.unlock();
      for (int stage = 0; stage < plan->stages; ++stage) {
        for (int64_t task = 0; task < plan->tasks[stage]; ++task)
          run_task(bound, *plan, workspace, stage, task);
      }
      lock.lock();
      ++completed_;
      driven_ = false;
      changed_.notify_all();
      if (!queue_.empty()) drive(lock);
      return;
    }
  }
  enqueue(std::make_shared<ProgramItem>(plan, bound, workspace));
}

}  // namespace bn::cpu
