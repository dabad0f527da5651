#include "backends/cpu/stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/status.h"

namespace bn::cpu {
namespace {

using Clock = std::chrono::steady_clock;

// What moves less than this runs in the calling thread: waking another one would take as long.
constexpr size_t kInlineBytes = 128 * 1024;

// Copies are split into tasks of this size.
constexpr size_t kCopyChunk = size_t{1} << 20;

// So many small items a thread of the pool runs for one stream before others get their turn.
constexpr int kItemsPerTurn = 64;

// How long a waiting thread looks before it sleeps.
constexpr std::chrono::microseconds kSpin{100};

template <class Done>
void spin_until(Done done) {
  const auto until = Clock::now() + kSpin;
  while (!done() && Clock::now() < until) {
    for (int i = 0; i < 16; ++i)
      pause_cpu();
  }
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

void Mark::reach() noexcept {
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
    std::exchange(waiter->stream, nullptr)->resume();
  }
}

bool Mark::when_reached(const std::shared_ptr<Waiter>& waiter) noexcept {
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
  // Work for the pool, which ends with advance(); null for an item that the driving thread runs.
  virtual std::shared_ptr<Work> work(const std::shared_ptr<CpuStream>&) { return nullptr; }
  // Runs the item without the stream's lock. True: it is over. False: it ends later, with resume().
  virtual bool run(const std::shared_ptr<CpuStream>& stream) noexcept = 0;

  std::shared_ptr<Item> next;  // in the queue
};

// An item made of tasks: in the driving thread if it is small, else in the pool.
class CpuStream::TaskItem : public Item, public Work, public std::enable_shared_from_this<TaskItem> {
 public:
  explicit TaskItem(bool small) : small_(small) {}

  std::shared_ptr<Work> work(const std::shared_ptr<CpuStream>& stream) final {
    if (small_) return nullptr;
    stream_ = stream;
    return shared_from_this();
  }

  bool run(const std::shared_ptr<CpuStream>&) noexcept final {
    for (int stage = 0; stage < stages_; ++stage) {
      for (int64_t task = 0; task < tasks_[stage]; ++task)
        run(stage, task);
    }
    return true;
  }

 protected:
  void run(int stage, int64_t task) noexcept override = 0;
  void finished() noexcept final { std::exchange(stream_, nullptr)->advance(); }

  // One stage that goes through `size_bytes` in chunks, or in one.
  void split(size_t size_bytes, bool one_task) {
    size_bytes_ = size_bytes;
    chunk_bytes_ = one_task ? size_bytes : kCopyChunk;
    stages_ = 1;
    tasks_[0] = static_cast<int64_t>((size_bytes + chunk_bytes_ - 1) / chunk_bytes_);
  }
  size_t begin(int64_t task) const { return static_cast<size_t>(task) * chunk_bytes_; }
  size_t length(int64_t task) const { return std::min(chunk_bytes_, size_bytes_ - begin(task)); }

 private:
  const bool small_;
  size_t size_bytes_ = 0;
  size_t chunk_bytes_ = 1;
  std::shared_ptr<CpuStream> stream_;
};

class CpuStream::CopyItem : public TaskItem {
 public:
  CopyItem(void* dst, const void* src, size_t size_bytes, bool small)
      : TaskItem(small), dst_(static_cast<char*>(dst)), src_(static_cast<const char*>(src)) {
    // Ranges that overlap have to be moved as a whole.
    split(size_bytes, src_ < dst_ + size_bytes && dst_ < src_ + size_bytes);
  }

 protected:
  void run(int, int64_t task) noexcept override {
    memmove(dst_ + begin(task), src_ + begin(task), length(task));
  }

 private:
  char* dst_;
  const char* src_;
};

class CpuStream::SetItem : public TaskItem {
 public:
  SetItem(void* dst, int value, size_t size_bytes, bool small)
      : TaskItem(small), dst_(static_cast<char*>(dst)), value_(value) {
    split(size_bytes, false);
  }

 protected:
  void run(int, int64_t task) noexcept override { memset(dst_ + begin(task), value_, length(task)); }

 private:
  char* dst_;
  int value_;
};

class CpuStream::ProgramItem : public TaskItem {
 public:
  ProgramItem(std::shared_ptr<const Plan> plan, const Program& bound, void* workspace, bool small)
      : TaskItem(small), plan_(std::move(plan)), program_(bound), workspace_(workspace) {
    stages_ = plan_->stages;
    std::copy(plan_->tasks, plan_->tasks + plan_->stages, tasks_);
  }

 protected:
  void run(int stage, int64_t task) noexcept override { run_task(program_, *plan_, workspace_, stage, task); }

 private:
  std::shared_ptr<const Plan> plan_;
  Program program_;
  void* workspace_;
};

class CpuStream::RecordItem : public Item {
 public:
  explicit RecordItem(std::shared_ptr<Mark> mark) : mark_(std::move(mark)) {}
  bool run(const std::shared_ptr<CpuStream>&) noexcept override {
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
  bool run(const std::shared_ptr<CpuStream>& stream) noexcept override {
    waiter_->stream = stream;
    if (mark_->when_reached(waiter_)) return false;
    waiter_->stream = nullptr;
    return true;
  }

 private:
  std::shared_ptr<Mark> mark_;
  std::shared_ptr<Waiter> waiter_;
};

// ---- streams
// -------------------------------------------------------------------------------------------------

// Counts an item as over and tells those who wait for it.
void CpuStream::complete() {
  completed_.fetch_add(1, std::memory_order_release);
  changed_.notify_all();
}

void CpuStream::pop() {
  front_ = std::move(front_->next);
  if (front_ == nullptr) back_ = nullptr;
  complete();
}

// Starts the item at the front. True: it is over, and the next one is at the front. False: it ends elsewhere, and
// what has to be done for the queue is done there; the lock may be given up.
bool CpuStream::start(std::unique_lock<std::mutex>& lock, const std::shared_ptr<CpuStream>& self) {
  const std::shared_ptr<Item> item = front_;
  if (const std::shared_ptr<Work> work = item->work(self)) {
    in_pool_ = work;
    sent_.fetch_add(1, std::memory_order_release);
    changed_.notify_all();
    lock.unlock();
    submit(work);
    return false;
  }
  lock.unlock();
  const bool over = item->run(self);
  lock.lock();
  if (over) pop();
  return over;
}

void CpuStream::drive(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<CpuStream> self = shared_from_this();
  for (int count = 0; front_ != nullptr; ++count) {
    if (count == kItemsPerTurn) return pass_to_pool(lock);
    if (!start(lock, self)) return;
  }
  driven_ = false;
}

void CpuStream::pass_to_pool(std::unique_lock<std::mutex>& lock) {
  if (front_ == nullptr) {
    driven_ = false;
    return;
  }
  const std::shared_ptr<Work> driver(shared_from_this(), &driver_);
  lock.unlock();
  submit(driver);
}

void CpuStream::Driver::finished() noexcept {
  std::unique_lock<std::mutex> lock(stream_->mutex_);
  stream_->drive(lock);
}

template <class Body>
bool CpuStream::run_at_once(const Body& body) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (driven_) return false;
  driven_ = true;
  ++enqueued_;
  lock.unlock();
  body();
  lock.lock();
  complete();
  pass_to_pool(lock);
  return true;
}

void CpuStream::enqueue(std::shared_ptr<Item> item) {
  const std::shared_ptr<CpuStream> self = shared_from_this();
  std::unique_lock<std::mutex> lock(mutex_);
  Item* const added = item.get();
  (back_ == nullptr ? front_ : back_->next) = std::move(item);
  back_ = added;
  ++enqueued_;
  if (driven_) return;
  driven_ = true;
  if (start(lock, self)) pass_to_pool(lock);
}

void CpuStream::advance() noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  in_pool_ = nullptr;
  pop();
  drive(lock);
}

void CpuStream::resume() noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  pop();
  pass_to_pool(lock);
}

bool CpuStream::query() {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_.load(std::memory_order_relaxed) == enqueued_;
}

bool CpuStream::synchronize(int32_t timeout_ms) {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t target = enqueued_;
  const auto done = [&] { return completed_.load(std::memory_order_acquire) >= target; };
  if (done()) return true;
  // Who has a limit does not start on tasks of unknown length.
  if (timeout_ms >= 0) return wait_for(changed_, lock, timeout_ms, done);
  std::shared_ptr<Work> helped;
  while (!done()) {
    // Take part in the work at the front rather than wait for it.
    if (in_pool_ != nullptr && in_pool_ != helped) {
      helped = in_pool_;
      const uint64_t sent = sent_.load(std::memory_order_relaxed);
      lock.unlock();
      // Where the last tasks of a stage are another thread's, the next stage may want help again.
      while (help(helped))
        spin_until(
            [&] { return done() || sent_.load(std::memory_order_acquire) != sent || has_tasks(*helped); });
      lock.lock();
      continue;
    }
    changed_.wait(lock, [&] { return done() || (in_pool_ != nullptr && in_pool_ != helped); });
  }
  return true;
}

void CpuStream::copy(void* dst, const void* src, size_t size_bytes) {
  const bool small = size_bytes <= kInlineBytes / 2;
  if (small && run_at_once([&] { memmove(dst, src, size_bytes); })) return;
  enqueue(std::make_shared<CopyItem>(dst, src, size_bytes, small));
}

void CpuStream::set(void* dst, int value, size_t size_bytes) {
  const bool small = size_bytes <= kInlineBytes;
  if (small && run_at_once([&] { memset(dst, value, size_bytes); })) return;
  enqueue(std::make_shared<SetItem>(dst, value, size_bytes, small));
}

void CpuStream::record(Event& event) {
  auto mark = std::make_shared<Mark>();
  // The event takes the mark only once it is certain to be reached.
  if (!run_at_once([&] { mark->reach(); })) enqueue(std::make_shared<RecordItem>(mark));
  static_cast<CpuEvent&>(event).set(std::move(mark));
}

void CpuStream::wait(const std::shared_ptr<Event>& event) {
  auto mark = static_cast<CpuEvent&>(*event).latest();
  if (mark == nullptr || mark->reached()) return;
  enqueue(std::make_shared<WaitItem>(std::move(mark)));
}

void CpuStream::launch(const std::shared_ptr<const Plan>& plan, const Program& bound, void* workspace) {
  const bool small = plan->work_bytes <= static_cast<int64_t>(kInlineBytes);
  const auto run = [&] {
    for (int stage = 0; stage < plan->stages; ++stage) {
      for (int64_t task = 0; task < plan->tasks[stage]; ++task)
        run_task(bound, *plan, workspace, stage, task);
    }
  };
  if (small && run_at_once(run)) return;
  enqueue(std::make_shared<ProgramItem>(plan, bound, workspace, small));
}

}  // namespace bn::cpu
