#include "block.h"

#include <algorithm>
#include <cfenv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "cooperative_groups.h"
#include "counters.h"
#include "cuda_runtime.h"
#include "fiber.h"
#include "memory.h"

__thread uint3 threadIdx = {0, 0, 0};
__thread uint3 blockIdx = {0, 0, 0};
__thread dim3 blockDim;
__thread dim3 gridDim;

namespace bn_simt {
namespace {

enum class Order { kForward, kReversed, kRandom };
Order g_order = Order::kForward;
std::minstd_rand g_random;
unsigned g_sample = 0;
std::string g_sample_except;  // empty: no kernel
bool g_counting = false;

constexpr Site kNowhere = {nullptr, 0};

// Bytes after a block's shared memory that must stay as they are. The address sanitizer has its own.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kSharedGuard = 0;
#else
constexpr size_t kSharedGuard = 64;
#endif

bool same(const Site& a, const Site& b) {
  return a.line == b.line && strcmp(a.file, b.file) == 0;
}

struct Block;

struct Warp {
  uint32_t present = 0;  // lanes that exist
  uint32_t waiting = 0;  // lanes in an operation of the warp
  uint32_t done = 0;     // lanes that have returned
  struct Thread* threads[32] = {};
  WarpLog log;
};

enum class WarpOp { kBarrier, kVote, kShuffle };

struct Thread {
  uint3 index;
  int lane;
  Block* block;
  Warp* warp;
  Fiber* fiber;  // null until it runs
  // While it waits, and for messages:
  Site site;
  WarpOp op;
  uint32_t mask;
  uint64_t value;  // given to an operation of the warp; then its result
  int source_lane;
};

struct Block {
  uint3 index;
  unsigned rank;  // in its cluster
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::unique_ptr<unsigned char[]> shared_storage;
  unsigned char* shared = nullptr;
  // The barrier that is filling up, and the result of the last.
  unsigned arrived = 0;
  unsigned returned = 0;
  Site site = kNowhere;
  unsigned true_votes = 0;
  unsigned vote_result = 0;
};

// Everything about the cluster (usually: the block) that is running.
class Runner {
 public:
  Runner(const Launch& launch, KernelCounts* counts) : launch_(launch), counts_(counts) {}
  bool run(const std::vector<uint3>& block_indices);
  [[noreturn]] void fail(cudaError_t error, const char* format, ...) __attribute__((format(printf, 3, 4)));

  const Launch& launch() const { return launch_; }
  Thread& running() { return *running_; }
  KernelCounts* counts() { return counts_; }
  std::vector<std::unique_ptr<Block>>& blocks() { return blocks_; }

  int block_barrier(Site site, bool predicate, Vote vote);
  void cluster_barrier(Site site);
  uint32_t meet_warp(WarpOp op, Site site, uint32_t mask, uint64_t value, int source_lane);
  void fiber_main();

  cudaError_t error = cudaSuccess;
  std::string message;

 private:
  void prepare(size_t number, const uint3& index);
  void wait();
  Thread* next();
  void enter(Thread* thread);
  void finish();
  void leave_for_good(Fiber* fiber, Fiber* to);
  void release(Block* block);
  void check_all_returned();
  [[noreturn]] void fail_early_return(const char* what, const Site& site, unsigned waiting,
                                      unsigned returned);
  Fiber* take_fiber();
  void flush(Block* block);

  const Launch& launch_;
  KernelCounts* counts_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Thread*> ready_;  // a ring
  size_t ready_head_ = 0, ready_count_ = 0;
  Thread* running_ = nullptr;
  Fiber* host_ = nullptr;
  size_t live_ = 0;  // threads that have not returned
  unsigned cluster_arrived_ = 0;
  Site cluster_site_ = kNowhere;

  void push_back(Thread* thread) { ready_[(ready_head_ + ready_count_++) % ready_.size()] = thread; }
  void push_front(Thread* thread) {
    ready_head_ = (ready_head_ + ready_.size() - 1) % ready_.size();
    ready_[ready_head_] = thread;
    ++ready_count_;
  }
};

__thread Runner* t_runner = nullptr;

// Fibers live as long as the process: one set, because one kernel runs at a time.
struct FiberPool {
  std::vector<std::unique_ptr<Fiber>> all;
  std::vector<Fiber*> free;
};
FiberPool& fibers() {
  static FiberPool& instance = *new FiberPool;
  return instance;
}

void fiber_entry() {
  t_runner->fiber_main();
}

Fiber* Runner::take_fiber() {
  FiberPool& pool = fibers();
  if (pool.free.empty()) {
    pool.all.push_back(std::make_unique<Fiber>(pool.all.size(), fiber_entry));
    return pool.all.back().get();
  }
  Fiber* fiber = pool.free.back();
  pool.free.pop_back();
  fiber->restart();
  return fiber;
}

// Puts the elements in the order that the schedule says.
template <class T>
void arrange(std::vector<T>* items) {
  if (g_order == Order::kReversed) std::reverse(items->begin(), items->end());
  if (g_order == Order::kRandom) std::shuffle(items->begin(), items->end(), g_random);
}

void Runner::prepare(size_t number, const uint3& index) {
  const dim3& shape = launch_.block;
  const unsigned threads = shape.x * shape.y * shape.z;
  if (number == blocks_.size()) {
    blocks_.push_back(std::make_unique<Block>());
    Block& block = *blocks_.back();
    block.threads.resize(threads);
    block.warps.resize((threads + 31) / 32);
    block.shared_storage.reset(new unsigned char[16 + launch_.shared_bytes + kSharedGuard]);
    block.shared = block.shared_storage.get() + 16;
  }
  Block& block = *blocks_[number];
  block.index = index;
  block.rank = static_cast<unsigned>(number);
  block.arrived = block.returned = block.true_votes = 0;
  memset(block.shared_storage.get(), kPoison, 16 + launch_.shared_bytes + kSharedGuard);
  for (Warp& warp : block.warps)
    warp.present = warp.waiting = warp.done = 0;
  for (unsigned t = 0; t < threads; ++t) {
    Thread& thread = block.threads[t];
    thread = Thread{};
    thread.index = {t % shape.x, t / shape.x % shape.y, t / shape.x / shape.y};
    thread.lane = static_cast<int>(t % 32);
    thread.block = &block;
    thread.warp = &block.warps[t / 32];
    thread.warp->present |= 1u << thread.lane;
    thread.warp->threads[thread.lane] = &thread;
  }
  live_ += threads;
}

bool Runner::run(const std::vector<uint3>& block_indices) {
  live_ = 0;
  cluster_arrived_ = 0;
  for (size_t i = 0; i < block_indices.size(); ++i)
    prepare(i, block_indices[i]);
  ready_.resize(live_);
  ready_head_ = ready_count_ = 0;
  for (auto& block : blocks_)
    release(block.get());
  Fiber host;
  host_ = &host;
  Thread* first = next();
  first->fiber = take_fiber();
  enter(first);
  Fiber::switch_to(host, *first->fiber, false);
  if (error != cudaSuccess) {
    // Wherever the other threads were, they are not resumed.
    fibers().free.clear();
    for (auto& fiber : fibers().all)
      fibers().free.push_back(fiber.get());
    return false;
  }
  for (auto& block : blocks_) {
    flush(block.get());
    for (size_t i = 0; i < kSharedGuard; ++i) {
      if (block->shared[launch_.shared_bytes + i] == kPoison) continue;
      error = cudaErrorIllegalAddress;
      message = std::string("kernel ") + launch_.name + ": wrote past the end of its shared memory";
      return false;
    }
  }
  return true;
}

// Makes all threads of the block runnable.
void Runner::release(Block* block) {
  std::vector<Thread*> order(block->threads.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = &block->threads[i];
  arrange(&order);
  for (Thread* thread : order)
    push_back(thread);
}

Thread* Runner::next() {
  if (ready_count_ == 0) return nullptr;
  Thread* thread = ready_[ready_head_];
  ready_head_ = (ready_head_ + 1) % ready_.size();
  --ready_count_;
  return thread;
}

// What the kernel sees of the thread that runs from now on.
void Runner::enter(Thread* thread) {
  running_ = thread;
  threadIdx = thread->index;
  blockIdx = thread->block->index;
}

// The running thread waits until somebody makes it runnable.
void Runner::wait() {
  Thread* const self = running_;
  Thread* const other = next();
  if (other == self) return;
  if (other == nullptr) {
    fail(cudaErrorLaunchFailure, "deadlock: no thread can go on; one waits at %s:%d", self->site.file,
         self->site.line);
  }
  if (other->fiber == nullptr) other->fiber = take_fiber();
  enter(other);
  Fiber::switch_to(*self->fiber, *other->fiber, false);
}

void Runner::leave_for_good(Fiber* fiber, Fiber* to) {
  fibers().free.push_back(fiber);
  Fiber::switch_to(*fiber, *to, true);
}

// Runs threads to their end, one after the other, as long as the next one has not started elsewhere.
void Runner::fiber_main() {
  for (;;) {
    Fiber* const fiber = running_->fiber;
    launch_.body();
    finish();
    Thread* const other = next();
    if (other == nullptr) {
      if (live_ != 0) check_all_returned();
      leave_for_good(fiber, host_);
    }
    if (other->fiber != nullptr) {
      enter(other);
      leave_for_good(fiber, other->fiber);
    }
    other->fiber = fiber;
    enter(other);
  }
}

void Runner::fail_early_return(const char* what, const Site& site, unsigned waiting, unsigned returned) {
  fail(cudaErrorLaunchFailure,
       "%u threads wait in %s at %s:%d that %u others will not reach: they have returned", waiting, what,
       site.file, site.line, returned);
}

void Runner::finish() {
  Thread& thread = *running_;
  Block& block = *thread.block;
  Warp& warp = *thread.warp;
  --live_;
  ++block.returned;
  warp.done |= 1u << thread.lane;
  if (block.arrived != 0) fail_early_return("__syncthreads", block.site, block.arrived, block.returned);
  for (uint32_t left = warp.waiting; left != 0; left &= left - 1) {
    const Thread& other = *warp.threads[__builtin_ctz(left)];
    if (other.mask >> thread.lane & 1) fail_early_return("an operation of their warp", other.site, 1, 1);
  }
}

// Nothing is runnable and threads are left: says who waits for whom.
void Runner::check_all_returned() {
  for (auto& block : blocks_) {
    if (block->arrived != 0) fail_early_return("__syncthreads", block->site, block->arrived, block->returned);
  }
  if (cluster_arrived_ != 0) {
    fail(cudaErrorLaunchFailure,
         "deadlock: %u threads wait in the cluster's barrier at %s:%d, the others never come",
         cluster_arrived_, cluster_site_.file, cluster_site_.line);
  }
  fail(cudaErrorLaunchFailure, "deadlock: no thread can go on");
}

void Runner::fail(cudaError_t code, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  char where[256];
  snprintf(where, sizeof(where), "kernel %s, block (%u, %u, %u), thread (%u, %u, %u): ", launch_.name,
           blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
  error = code;
  message = std::string(where) + text;
  // The host makes all fibers start anew; this one is left where it is.
  Fiber::switch_to(*running_->fiber, *host_, true);
  abort();
}

int Runner::block_barrier(Site site, bool predicate, Vote vote) {
  Thread& self = *running_;
  Block& block = *self.block;
  self.site = site;
  if (block.returned != 0) fail_early_return("__syncthreads", site, block.arrived + 1, block.returned);
  if (block.arrived == 0) {
    block.site = site;
  } else if (!same(block.site, site)) {
    fail(cudaErrorLaunchFailure, "divergent barriers: this thread is at %s:%d, %u others wait at %s:%d",
         site.file, site.line, block.arrived, block.site.file, block.site.line);
  }
  if (predicate) ++block.true_votes;
  if (++block.arrived == block.threads.size()) {
    block.vote_result = block.true_votes;
    block.arrived = block.true_votes = 0;
    flush(&block);
    if (counts_ != nullptr) ++counts_->block_barriers;
    release(&block);
  }
  wait();
  switch (vote) {
    case Vote::kAny:
      return block.vote_result != 0;
    case Vote::kAll:
      return block.vote_result == block.threads.size();
    default:
      return static_cast<int>(block.vote_result);
  }
}

void Runner::cluster_barrier(Site site) {
  running_->site = site;
  if (cluster_arrived_ == 0) {
    cluster_site_ = site;
  } else if (!same(cluster_site_, site)) {
    fail(cudaErrorLaunchFailure, "divergent cluster barriers: %s:%d and %s:%d", site.file, site.line,
         cluster_site_.file, cluster_site_.line);
  }
  size_t threads = 0;
  for (auto& block : blocks_)
    threads += block->threads.size();
  if (live_ != threads) {
    fail_early_return("the cluster's barrier", site, cluster_arrived_ + 1,
                      static_cast<unsigned>(threads - live_));
  }
  if (++cluster_arrived_ == threads) {
    cluster_arrived_ = 0;
    for (auto& block : blocks_) {
      flush(block.get());
      release(block.get());
    }
    if (counts_ != nullptr) counts_->block_barriers += blocks_.size();
  }
  wait();
}

// Waits until all lanes of the mask are here, then gives each the value of its source lane. Returns a mask of the
// lanes whose value was not 0.
uint32_t Runner::meet_warp(WarpOp op, Site site, uint32_t mask, uint64_t value, int source_lane) {
  Thread& self = *running_;
  Warp& warp = *self.warp;
  self.site = site;
  self.op = op;
  self.mask = mask;
  self.value = value;
  self.source_lane = source_lane;
  const uint32_t bit = 1u << self.lane;
  if ((mask & bit) == 0) fail(cudaErrorLaunchFailure, "lane %d is not in its own mask %08x", self.lane, mask);
  if ((mask & ~warp.present) != 0)
    fail(cudaErrorLaunchFailure, "mask %08x at %s:%d has lanes that do not exist", mask, site.file,
         site.line);
  if ((mask & warp.done) != 0) fail_early_return("an operation of their warp", site, 1, 1);
  warp.waiting |= bit;
  if ((warp.waiting & mask) != mask) {
    wait();
    return static_cast<uint32_t>(self.mask);
  }
  // The last lane of the mask: does the work for all.
  uint64_t results[32];
  uint32_t ballot = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const Thread& other = *warp.threads[__builtin_ctz(left)];
    if (other.mask != mask || other.op != op || !same(other.site, site)) {
      fail(cudaErrorLaunchFailure, "lanes of one mask in different operations: %s:%d (%08x) and %s:%d (%08x)",
           site.file, site.line, mask, other.site.file, other.site.line, other.mask);
    }
    if (op == WarpOp::kShuffle) {
      if ((mask >> other.source_lane & 1) == 0) {
        fail(cudaErrorLaunchFailure, "lane %d reads lane %d, which is not in mask %08x, at %s:%d", other.lane,
             other.source_lane, mask, site.file, site.line);
      }
      results[other.lane] = warp.threads[other.source_lane]->value;
    }
    if (other.value != 0) ballot |= 1u << other.lane;
  }
  warp.waiting &= ~mask;
  if (counts_ != nullptr) ++counts_->warp_operations;
  std::vector<Thread*> others;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    Thread& other = *warp.threads[__builtin_ctz(left)];
    if (op == WarpOp::kShuffle) other.value = results[other.lane];
    other.mask = ballot;
    if (&other != &self) others.push_back(&other);
  }
  arrange(&others);
  for (auto other = others.rbegin(); other != others.rend(); ++other)
    push_front(*other);
  return ballot;
}

void Runner::flush(Block* block) {
  if (counts_ == nullptr) return;
  for (Warp& warp : block->warps)
    warp.log.flush(counts_);
}

// The blocks to run, in order, as linear indices of clusters.
std::vector<uint64_t> choose_clusters(const char* kernel, uint64_t clusters) {
  const bool whole =
      !g_sample_except.empty() && strncmp(kernel, g_sample_except.c_str(), g_sample_except.size()) == 0;
  const uint64_t wanted = g_sample == 0 || whole ? clusters : std::min<uint64_t>(g_sample, clusters);
  std::vector<uint64_t> chosen(wanted);
  for (uint64_t i = 0; i < wanted; ++i)
    chosen[i] = static_cast<uint64_t>(static_cast<unsigned __int128>(i) * clusters / wanted);
  arrange(&chosen);
  return chosen;
}

struct CachedRanges {
  Range range[4];
  unsigned oldest = 0;
};
__thread CachedRanges* t_ranges = nullptr;

// An access that is not in a range used lately.
const Range* find_accessible(const void* address, size_t size_bytes, bool is_store) {
  Runner& runner = *t_runner;
  const Range range = find_range(address);
  const uintptr_t first = reinterpret_cast<uintptr_t>(address);
  const char* what = is_store ? "store" : "load";
  if (range.space == Space::kUnknown) {
    runner.fail(cudaErrorIllegalAddress, "%s of %zu bytes at %p: %s", what, size_bytes, address,
                in_device_arena(address)
                    ? "outside every live allocation"
                    : "memory of the host (or shared memory), which is not the device's");
  }
  if (first + size_bytes > range.end) {
    runner.fail(cudaErrorIllegalAddress, "%s of %zu bytes at %p: runs past the end of its allocation", what,
                size_bytes, address);
  }
  if (range.space == Space::kDevice && range.device != runner.launch().device) {
    runner.fail(cudaErrorIllegalAddress, "%s of %zu bytes at %p: memory of another device", what, size_bytes,
                address);
  }
  Range& slot = t_ranges->range[t_ranges->oldest++ % 4];
  slot = range;
  return &slot;
}

Runner& runner_or_die(const char* what) {
  if (t_runner == nullptr) {
    fprintf(stderr, "bn_simt: %s outside a kernel\n", what);
    abort();
  }
  return *t_runner;
}

}  // namespace

cudaError_t run_launch(const Launch& launch, std::string* message) {
  const uint64_t clusters_x = launch.grid.x / launch.cluster.x;
  const uint64_t clusters_y = launch.grid.y / launch.cluster.y;
  const uint64_t clusters_z = launch.grid.z / launch.cluster.z;
  const uint64_t clusters = clusters_x * clusters_y * clusters_z;
  const unsigned cluster_blocks = launch.cluster.x * launch.cluster.y * launch.cluster.z;
  KernelCounts* counts = nullptr;
  if (g_counting) {
    counts = counts_of(launch.name, launch.grid, launch.block, launch.shared_bytes);
    ++counts->launches;
    counts->blocks += clusters * cluster_blocks;
  }
  CachedRanges cached;
  Runner runner(launch, counts);
  t_ranges = &cached;
  t_runner = &runner;
  blockDim = launch.block;
  gridDim = launch.grid;
  // A GPU does not know the rounding mode or the flush-to-zero flag of the thread that launches.
  fenv_t environment;
  fegetenv(&environment);
  fesetenv(FE_DFL_ENV);

  std::vector<uint3> indices(cluster_blocks);
  for (const uint64_t cluster : choose_clusters(launch.name, clusters)) {
    const uint64_t x = cluster % clusters_x, y = cluster / clusters_x % clusters_y,
                   z = cluster / clusters_x / clusters_y;
    for (unsigned b = 0; b < cluster_blocks; ++b) {
      const dim3& shape = launch.cluster;
      indices[b] = {static_cast<unsigned>(x * shape.x + b % shape.x),
                    static_cast<unsigned>(y * shape.y + b / shape.x % shape.y),
                    static_cast<unsigned>(z * shape.z + b / shape.x / shape.y)};
    }
    if (!runner.run(indices)) break;
    if (counts != nullptr) counts->blocks_run += cluster_blocks;
  }

  fesetenv(&environment);
  t_runner = nullptr;
  t_ranges = nullptr;
  *message = runner.message;
  return runner.error;
}

bool set_schedule(const char* schedule) {
  if (strcmp(schedule, "order") == 0) {
    g_order = Order::kForward;
  } else if (strcmp(schedule, "reversed") == 0) {
    g_order = Order::kReversed;
  } else if (strncmp(schedule, "random:", 7) == 0) {
    g_order = Order::kRandom;
    g_random.seed(static_cast<unsigned>(strtoul(schedule + 7, nullptr, 10)) + 1);
  } else {
    return false;
  }
  return true;
}

void set_sample(unsigned blocks, const char* except) {
  g_sample = blocks;
  g_sample_except = except == nullptr ? "" : except;
}
void set_counting(bool on) {
  g_counting = on;
}

// ---- called by kernels -----------------------------------------------------------------------------------------

int block_barrier(Site site, int predicate, Vote vote) {
  return runner_or_die("__syncthreads").block_barrier(site, predicate != 0, vote);
}

void warp_barrier(Site site, unsigned mask) {
  runner_or_die("__syncwarp").meet_warp(WarpOp::kBarrier, site, mask, 0, 0);
}

unsigned warp_vote(Site site, unsigned mask, bool predicate, Vote vote) {
  const uint32_t ballot = runner_or_die("a vote").meet_warp(WarpOp::kVote, site, mask, predicate ? 1 : 0, 0);
  switch (vote) {
    case Vote::kAny:
      return ballot != 0;
    case Vote::kAll:
      return ballot == mask;
    default:
      return ballot;
  }
}

uint64_t warp_shuffle(Site site, unsigned mask, uint64_t value, int source_lane) {
  Runner& runner = runner_or_die("a shuffle");
  Thread& self = runner.running();
  runner.meet_warp(WarpOp::kShuffle, site, mask, value, source_lane);
  return self.value;
}

int lane() {
  return runner_or_die("a lane").running().lane;
}

void trap(cudaError_t error, const char* message) {
  runner_or_die(message).fail(error, "%s", message);
}

void cluster_barrier(Site site) {
  runner_or_die("cluster.sync").cluster_barrier(site);
}
unsigned cluster_rank() {
  return runner_or_die("cluster.block_rank").running().block->rank;
}
unsigned cluster_size() {
  return static_cast<unsigned>(runner_or_die("cluster.num_blocks").blocks().size());
}

void* cluster_map(void* address, unsigned rank) {
  Runner& runner = runner_or_die("cluster.map_shared_rank");
  const ptrdiff_t offset = static_cast<unsigned char*>(address) - runner.running().block->shared;
  if (offset < 0 || static_cast<size_t>(offset) > runner.launch().shared_bytes ||
      rank >= runner.blocks().size())
    runner.fail(cudaErrorInvalidAddressSpace, "map_shared_rank of %p for rank %u", address, rank);
  return runner.blocks()[rank]->shared + offset;
}

void* writable(void* address, size_t size_bytes) {
  Runner& runner = runner_or_die("an atomic");
  for (auto& block : runner.blocks()) {
    unsigned char* byte = static_cast<unsigned char*>(address);
    if (byte >= block->shared && byte + size_bytes <= block->shared + runner.launch().shared_bytes)
      return address;
  }
  return bn_simt_access(address, size_bytes, true);
}

}  // namespace bn_simt

extern "C" {

void* bn_simt_access(const void* address, size_t size_bytes, bool is_store) {
  using bn_simt::t_runner;
  bn_simt::Runner& runner = bn_simt::runner_or_die("an access to global memory");
  const uintptr_t first = reinterpret_cast<uintptr_t>(address);
  if (size_bytes > 16 || (size_bytes & (size_bytes - 1)) != 0) {
    runner.fail(cudaErrorInvalidValue, "no access has %zu bytes", size_bytes);
  }
  if ((first & (size_bytes - 1)) != 0) {
    runner.fail(cudaErrorMisalignedAddress, "%s of %zu bytes at %p: not a multiple of its size",
                is_store ? "store" : "load", size_bytes, address);
  }
  const bn_simt::Range* range = nullptr;
  for (const bn_simt::Range& cached : bn_simt::t_ranges->range) {
    if (first >= cached.begin && first + size_bytes <= cached.end) range = &cached;
  }
  if (range == nullptr) range = bn_simt::find_accessible(address, size_bytes, is_store);
  if (runner.counts() != nullptr) {
    bn_simt::Thread& thread = runner.running();
    thread.warp->log.note(reinterpret_cast<uintptr_t>(__builtin_return_address(0)), thread.lane, first,
                          static_cast<unsigned>(size_bytes), is_store);
  }
  return reinterpret_cast<void*>(first + range->to_bytes);
}

unsigned char* bn_simt_dynamic_shared() {
  return bn_simt::runner_or_die("shared memory").running().block->shared;
}
}
