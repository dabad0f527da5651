// Streams and events: order, asynchrony, waiting across streams, many threads at once. Runs under the thread
// sanitizer too.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "check.h"
#include "reduce_backward.h"

namespace {

bnapiStream new_stream() {
  bnapiStream stream = nullptr;
  CHECK_OK(bnapiCreateStream(&stream));
  return stream;
}

bnapiEvent new_event() {
  bnapiEvent event = nullptr;
  CHECK_OK(bnapiCreateEvent(&event));
  return event;
}

// Keeps a stream busy for some time: copies large enough to be work for the pool.
class Load {
 public:
  explicit Load(size_t bytes = size_t{8} << 20) : from_(bytes, 1), to_(bytes, 2) {}
  void enqueue(bnapiStream stream, int times = 1) {
    for (int i = 0; i < times; ++i) {
      CHECK_OK(
          bnapiMemcpyAsync(to_.data(), to_.size(), from_.data(), from_.size(), BNAPI_MEMCPY_DEFAULT, stream));
    }
  }
  bool arrived() const { return to_ == from_; }

 private:
  std::vector<unsigned char> from_, to_;
};

void in_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(body, i);
  for (std::thread& thread : threads)
    thread.join();
}

// Small and large items alternate; each reads what the one before it wrote.
void test_fifo() {
  const bnapiStream stream = new_stream();
  constexpr int kLength = 200;
  constexpr size_t kBytes = size_t{512} << 10;
  std::vector<std::vector<unsigned char>> buffers(kLength, std::vector<unsigned char>(kBytes, 0));
  CHECK_OK(bnapiMemsetAsync(buffers[0].data(), kBytes, 0x5A, kBytes, stream));
  for (int i = 1; i < kLength; ++i) {
    const size_t bytes = i % 3 == 0 ? kBytes : 16;
    auto& to = buffers[static_cast<size_t>(i)];
    auto& from = buffers[static_cast<size_t>(i - 1)];
    CHECK_OK(
        bnapiMemcpyAsync(to.data(), to.size(), from.data(), bytes, BNAPI_MEMCPY_DEVICE_TO_DEVICE, stream));
  }
  CHECK_OK(bnapiSynchronizeStream(stream));
  for (const auto& buffer : buffers)
    CHECK(std::all_of(buffer.begin(), buffer.begin() + 16, [](unsigned char byte) { return byte == 0x5A; }));
  CHECK_OK(bnapiDestroyStream(stream));
}

// Ranges that overlap move as memmove moves them, also when the copy is large.
void test_overlapping_copy() {
  const bnapiStream stream = new_stream();
  constexpr size_t kBytes = size_t{5} << 20;
  for (const int64_t shift : {int64_t{1}, int64_t{4096}, int64_t{3} << 20, int64_t{-1}, int64_t{-4096}}) {
    std::vector<unsigned char> memory(kBytes + (size_t{4} << 20));
    for (size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
    const size_t from = shift < 0 ? static_cast<size_t>(-shift) : 0;
    const size_t to = shift < 0 ? 0 : static_cast<size_t>(shift);
    std::vector<unsigned char> expected = memory;
    memmove(expected.data() + to, expected.data() + from, kBytes);
    CHECK_OK(bnapiMemcpyAsync(memory.data() + to, kBytes, memory.data() + from, kBytes, BNAPI_MEMCPY_DEFAULT,
                              stream));
    CHECK_OK(bnapiSynchronizeStream(stream));
    CHECK(memory == expected);
  }
  CHECK_OK(bnapiDestroyStream(stream));
}

// A stream that waits for an event has its work pending, and nobody else waits for it.
void test_asynchronous() {
  const bnapiStream first = new_stream();
  const bnapiStream second = new_stream();
  const bnapiEvent event = new_event();
  Load load(size_t{32} << 20);
  load.enqueue(first, 20);
  CHECK_OK(bnapiRecordEvent(event, first));
  CHECK_OK(bnapiStreamWaitEvent(second, event));
  std::atomic<int> target{0};
  int one = 1;
  CHECK_OK(bnapiMemcpyAsync(&target, sizeof(int), &one, sizeof(int), BNAPI_MEMCPY_DEFAULT, second));
  // 640 MB cannot have been copied yet: the calls above returned at once.
  bool complete = true;
  CHECK_OK(bnapiStreamQuery(first, &complete));
  CHECK(!complete);
  CHECK_OK(bnapiStreamQuery(second, &complete));
  CHECK(!complete);
  CHECK_OK(bnapiQueryEvent(event, &complete));
  CHECK(!complete);
  CHECK_STATUS(BNAPI_ERR_RT_STREAM_SYNC_TIMEOUT, bnapiSynchronizeStreamWithTimeout(first, 0));
  CHECK_STATUS(BNAPI_ERR_RT_STREAM_SYNC_TIMEOUT, bnapiSynchronizeStreamWithTimeout(second, 1));
  CHECK_STATUS(BNAPI_ERR_RT_EVENT_SYNC_TIMEOUT, bnapiSynchronizeEventWithTimeout(event, 0));
  float elapsed = 0;
  CHECK_STATUS(BNAPI_ERR_RT_EVENT_TIMESTAMP_INVALID, bnapiEventElapsedTime(&elapsed, event, event));
  CHECK_OK(bnapiSynchronizeStream(second));
  CHECK(target == 1);
  CHECK_OK(bnapiQueryEvent(event, &complete));
  CHECK(complete);
  CHECK_OK(bnapiSynchronizeStreamWithTimeout(first, 100000));
  CHECK_OK(bnapiSynchronizeEventWithTimeout(event, 0));
  CHECK(load.arrived());
  CHECK_OK(bnapiDestroyEvent(event));
  CHECK_OK(bnapiDestroyStream(first));
  CHECK_OK(bnapiDestroyStream(second));
}

void test_events() {
  const bnapiStream stream = new_stream();
  const bnapiEvent start = new_event();
  const bnapiEvent end = new_event();
  bool complete = false;
  float elapsed = -1;
  CHECK_OK(bnapiQueryEvent(start, &complete));
  CHECK(complete);  // never recorded
  CHECK_OK(bnapiSynchronizeEvent(start));
  CHECK_REFUSED(BNAPI_ERR_RT_EVENT_TIMESTAMP_INVALID, bnapiEventElapsedTime(&elapsed, start, end),
                "EventElapsedTime", "recorded");
  CHECK_OK(bnapiRecordEvent(start, stream));
  CHECK_STATUS(BNAPI_ERR_RT_EVENT_TIMESTAMP_INVALID, bnapiEventElapsedTime(&elapsed, start, end));
  Load load;
  load.enqueue(stream, 4);
  CHECK_OK(bnapiRecordEvent(end, stream));
  CHECK_OK(bnapiSynchronizeEvent(end));
  CHECK_OK(bnapiEventElapsedTime(&elapsed, start, end));
  CHECK(elapsed > 0 && elapsed < 1e6f);
  CHECK_REFUSED(BNAPI_ERR_RT_EVENT_TIMESTAMP_REVERSAL, bnapiEventElapsedTime(&elapsed, end, start), "end");
  // Recording again moves the mark.
  CHECK_OK(bnapiRecordEvent(start, stream));
  CHECK_OK(bnapiSynchronizeStream(stream));
  CHECK_STATUS(BNAPI_ERR_RT_EVENT_TIMESTAMP_REVERSAL, bnapiEventElapsedTime(&elapsed, start, end));
  // An event may be destroyed while a stream waits for it.
  load.enqueue(stream, 4);
  const bnapiStream other = new_stream();
  CHECK_OK(bnapiRecordEvent(end, stream));
  CHECK_OK(bnapiStreamWaitEvent(other, end));
  CHECK_OK(bnapiDestroyEvent(end));
  CHECK_OK(bnapiSynchronizeStream(other));
  CHECK_OK(bnapiDestroyEvent(start));
  CHECK_OK(bnapiDestroyStream(stream));
  CHECK_OK(bnapiDestroyStream(other));
}

// A value walks through all streams, thousands of times, behind a gate that is shut while the chain is built: the
// chain then runs by itself, however long it is.
void test_long_chain(int streams, int steps) {
  std::vector<bnapiStream> chain;
  for (int i = 0; i < streams; ++i)
    chain.push_back(new_stream());
  Load load(size_t{32} << 20);
  load.enqueue(chain[0], 4);
  std::vector<int> values(static_cast<size_t>(steps) + 1, -1);
  values[0] = 42;
  const bnapiEvent event = new_event();
  for (int i = 0; i < steps; ++i) {
    const bnapiStream stream = chain[static_cast<size_t>(i % streams)];
    if (i > 0) CHECK_OK(bnapiStreamWaitEvent(stream, event));
    CHECK_OK(bnapiMemcpyAsync(&values[static_cast<size_t>(i) + 1], sizeof(int),
                              &values[static_cast<size_t>(i)], sizeof(int), BNAPI_MEMCPY_DEFAULT, stream));
    CHECK_OK(bnapiRecordEvent(event, stream));
  }
  CHECK_OK(bnapiSynchronizeEvent(event));
  CHECK(std::all_of(values.begin(), values.end(), [](int value) { return value == 42; }));
  CHECK_OK(bnapiDestroyEvent(event));
  for (const bnapiStream stream : chain)
    CHECK_OK(bnapiDestroyStream(stream));
}

// All streams wait for one event, and one stream for all.
void test_fan() {
  constexpr size_t kStreams = 32;
  std::vector<bnapiStream> streams;
  for (size_t i = 0; i < kStreams; ++i)
    streams.push_back(new_stream());
  const bnapiEvent gate = new_event();
  Load load;
  load.enqueue(streams[0], 4);
  CHECK_OK(bnapiRecordEvent(gate, streams[0]));
  int source = 7;
  std::vector<int> middle(kStreams, 0), target(kStreams, 0);
  for (size_t i = 1; i < kStreams; ++i) {
    CHECK_OK(bnapiStreamWaitEvent(streams[i], gate));
    CHECK_OK(
        bnapiMemcpyAsync(&middle[i], sizeof(int), &source, sizeof(int), BNAPI_MEMCPY_DEFAULT, streams[i]));
    const bnapiEvent done = new_event();
    CHECK_OK(bnapiRecordEvent(done, streams[i]));
    CHECK_OK(bnapiStreamWaitEvent(streams[0], done));
    CHECK_OK(bnapiDestroyEvent(done));
    CHECK_OK(
        bnapiMemcpyAsync(&target[i], sizeof(int), &middle[i], sizeof(int), BNAPI_MEMCPY_DEFAULT, streams[0]));
  }
  CHECK_OK(bnapiSynchronizeStream(streams[0]));
  for (size_t i = 1; i < kStreams; ++i)
    CHECK(target[i] == 7);
  CHECK_OK(bnapiDestroyEvent(gate));
  for (const bnapiStream stream : streams)
    CHECK_OK(bnapiDestroyStream(stream));
}

// 16 threads over 8 streams, with operators, copies, events and waits; every thread checks its own results.
void test_threads_over_streams() {
  constexpr int kThreads = 16;
  constexpr int kStreams = 8;
  std::vector<bnapiStream> streams;
  std::vector<bnapiEvent> events;
  for (int i = 0; i < kStreams; ++i) {
    streams.push_back(new_stream());
    events.push_back(new_event());
  }
  in_threads(kThreads, [&](int thread) {
    const auto pick = [&](int round) { return static_cast<size_t>((thread * 5 + round * 3) % kStreams); };
    ReduceBackward small(2, 3, 8, thread);
    ReduceBackward large(4, 24, 2048, thread);  // 1.5 MB: work for the pool
    std::vector<float> copies(large.out[0].size());
    for (int round = 0; round < 12; ++round) {
      ReduceBackward& call = round % 2 == 0 ? small : large;
      call.spoil();
      uint64_t size = 0;
      bnapiOpExecutor* executor = nullptr;
      if (!CHECK_OK(call.plan(&size, &executor))) return;
      Workspace workspace(size);
      const bnapiStream stream = streams[pick(round)];
      CHECK_OK(bnapiStreamWaitEvent(stream, events[pick(round + 1)]));
      CHECK_OK(bnapiBatchNormReduceBackward(workspace.memory, size, executor, stream));
      const size_t bytes = call.out[0].size() * sizeof(float);
      CHECK_OK(
          bnapiMemcpyAsync(copies.data(), bytes, call.out[0].data(), bytes, BNAPI_MEMCPY_DEFAULT, stream));
      CHECK_OK(bnapiRecordEvent(events[pick(round)], stream));
      bool complete = false;
      CHECK_OK(bnapiStreamQuery(stream, &complete));
      CHECK_OK(bnapiQueryEvent(events[pick(round + 2)], &complete));
      if (round % 3 == 0) bnapiSetNumThreads(1 + (thread + round) % 8);
      CHECK_OK(bnapiSynchronizeStream(stream));
      CHECK(call.right());
      CHECK(std::equal(call.out[0].begin(), call.out[0].end(), copies.begin()));
    }
  });
  for (int i = 0; i < kStreams; ++i) {
    CHECK_OK(bnapiDestroyEvent(events[static_cast<size_t>(i)]));
    CHECK_OK(bnapiDestroyStream(streams[static_cast<size_t>(i)]));
  }
}

// Several threads wait for one stream while another feeds it.
void test_synchronize_from_many_threads() {
  const bnapiStream stream = new_stream();
  ReduceBackward call(4, 16, 4096);
  uint64_t size = 0;
  bnapiOpExecutor* executor = nullptr;
  CHECK_OK(call.plan(&size, &executor));
  CHECK_OK(bnapiSetOpExecutorRepeatable(executor));
  Workspace workspace(size);
  in_threads(5, [&](int thread) {
    for (int i = 0; i < 40; ++i) {
      if (thread == 0) {
        CHECK_OK(bnapiBatchNormReduceBackward(workspace.memory, size, executor, stream));
      } else if (thread == 1) {
        const bnapiStatus status = bnapiSynchronizeStreamWithTimeout(stream, 1);
        CHECK(status == BNAPI_SUCCESS || status == BNAPI_ERR_RT_STREAM_SYNC_TIMEOUT);
      } else if (thread == 2) {
        CHECK_OK(bnapiSynchronizeDevice());
      } else {
        CHECK_OK(bnapiSynchronizeStream(stream));
      }
    }
  });
  CHECK_OK(bnapiSynchronizeStream(stream));
  CHECK(call.right());
  CHECK_OK(bnapiDestroyOpExecutor(executor));
  CHECK_OK(bnapiDestroyStream(stream));
}

// The default stream is one queue for all threads of a device.
void test_default_stream() {
  std::vector<int> values(1000, 0);
  Load load;
  load.enqueue(nullptr, 2);
  const int one = 1;
  CHECK_OK(bnapiMemcpyAsync(values.data(), sizeof(int), &one, sizeof(int), BNAPI_MEMCPY_DEFAULT, nullptr));
  for (size_t i = 1; i < values.size(); ++i) {
    CHECK_OK(bnapiMemcpyAsync(&values[i], sizeof(int), &values[i - 1], sizeof(int), BNAPI_MEMCPY_DEFAULT,
                              nullptr));
  }
  int last = 0;
  std::thread([&] {
    CHECK_OK(
        bnapiMemcpyAsync(&last, sizeof(int), &values.back(), sizeof(int), BNAPI_MEMCPY_DEFAULT, nullptr));
    CHECK_OK(bnapiSynchronizeStream(nullptr));
  }).join();
  CHECK(last == 1);
  int32_t device = -1;
  CHECK_OK(bnapiStreamGetDevice(nullptr, &device));
  CHECK(device == 0);
}

// A copy to the host waits for work that was queued before, in whatever stream.
void test_blocking_copy_settles() {
  const bnapiStream stream = new_stream();
  Load load;
  std::vector<unsigned char> from(size_t{4} << 20, 9), to(from.size(), 0), seen(from.size(), 0);
  load.enqueue(stream, 4);
  CHECK_OK(
      bnapiMemcpyAsync(to.data(), to.size(), from.data(), from.size(), BNAPI_MEMCPY_HOST_TO_DEVICE, stream));
  CHECK_OK(bnapiMemcpy(seen.data(), seen.size(), to.data(), to.size(), BNAPI_MEMCPY_DEVICE_TO_HOST));
  CHECK(seen == from);
  // So does freeing memory that queued work uses.
  void* memory = nullptr;
  CHECK_OK(bnapiMalloc(&memory, from.size()));
  load.enqueue(stream, 4);
  CHECK_OK(
      bnapiMemcpyAsync(memory, from.size(), from.data(), from.size(), BNAPI_MEMCPY_HOST_TO_DEVICE, stream));
  CHECK_OK(bnapiFree(memory));
  CHECK_OK(bnapiDestroyStream(stream));
}

// Destroying a stream waits for its work.
void test_destroy_with_pending_work() {
  for (int round = 0; round < 10; ++round) {
    const bnapiStream stream = new_stream();
    Load load(size_t{4} << 20);
    load.enqueue(stream, 3);
    int value = 0;
    const int one = 1;
    CHECK_OK(bnapiMemcpyAsync(&value, sizeof(int), &one, sizeof(int), BNAPI_MEMCPY_DEFAULT, stream));
    CHECK_OK(bnapiDestroyStream(stream));
    CHECK(value == 1);
    CHECK(load.arrived());
    CHECK_STATUS(BNAPI_ERR_RT_INVALID_HANDLE, bnapiSynchronizeStream(stream));
  }
}

// The same bits for every number of threads, alone or not. Values that do not sum exactly.
void test_same_bits() {
  ReduceBackward call(8, 5, 6007);
  for (size_t i = 0; i < call.x.size(); ++i) {
    call.x[i] = 1.0f / static_cast<float>(i % 1013 + 1) + 1000.0f;
    call.dy[i] = 1.0f / static_cast<float>(i % 739 + 3) - 0.01f;
  }
  std::vector<float> first[4];
  Load load;
  const bnapiStream noise = new_stream();
  for (const int threads : {1, 2, 3, 8, 2, 1}) {
    CHECK_OK(bnapiSetNumThreads(threads));
    CHECK(bnapiGetNumThreads() == threads);
    for (int repeat = 0; repeat < 3; ++repeat) {
      load.enqueue(noise, repeat);
      call.spoil();
      uint64_t size = 0;
      bnapiOpExecutor* executor = nullptr;
      CHECK_OK(call.plan(&size, &executor));
      Workspace workspace(size);
      CHECK_OK(bnapiBatchNormReduceBackward(workspace.memory, size, executor, nullptr));
      CHECK_OK(bnapiSynchronizeStream(nullptr));
      for (int i = 0; i < 4; ++i) {
        if (first[i].empty()) first[i] = call.out[i];
        CHECK(memcmp(first[i].data(), call.out[i].data(), first[i].size() * sizeof(float)) == 0);
      }
    }
  }
  CHECK_OK(bnapiDestroyStream(noise));
}

// A stream whose queue never runs dry does not keep the others waiting, even with one thread.
void test_turns() {
  CHECK_OK(bnapiSetNumThreads(1));
  const bnapiStream busy = new_stream();
  const bnapiStream other = new_stream();
  std::atomic<bool> stop{false};
  std::thread feeder([&] {
    Load load(size_t{1} << 20);
    const int from = 1;
    int to = 0;
    while (!stop) {
      load.enqueue(busy);
      for (int i = 0; i < 500; ++i)
        bnapiMemcpyAsync(&to, sizeof(int), &from, sizeof(int), BNAPI_MEMCPY_DEFAULT, busy);
      bnapiSynchronizeStreamWithTimeout(busy, 1);
    }
    bnapiSynchronizeStream(busy);
  });
  Load load(size_t{2} << 20);
  for (int i = 0; i < 20; ++i) {
    load.enqueue(other);
    CHECK_OK(bnapiSynchronizeStream(other));
  }
  stop = true;
  feeder.join();
  CHECK_OK(bnapiDestroyStream(busy));
  CHECK_OK(bnapiDestroyStream(other));
}

// Finalize waits for work in flight, and takes every object with it.
void test_finalize_with_work() {
  const bnapiStream stream = new_stream();
  const bnapiEvent event = new_event();
  Load load, default_load;  // streams run beside each other
  load.enqueue(stream, 4);
  default_load.enqueue(nullptr, 2);
  CHECK_OK(bnapiRecordEvent(event, stream));
  CHECK_OK(bnapiInit(nullptr));
  CHECK_OK(bnapiFinalize());
  CHECK(load.arrived() && default_load.arrived());
  CHECK_STATUS(BNAPI_ERR_RT_INVALID_HANDLE, bnapiSynchronizeStream(stream));
  CHECK_STATUS(BNAPI_ERR_RT_INVALID_HANDLE, bnapiSynchronizeEvent(event));
  // Usable at once.
  load.enqueue(nullptr, 1);
  CHECK_OK(bnapiSynchronizeStream(nullptr));
}

// A process may end with work queued, by exit() as by _exit(). (The memory is never freed: whoever frees what
// queued work uses has to wait for it first.) These are runs of this program with an argument.
Load* last_load;
ReduceBackward* last_call;
Workspace* last_workspace;

int end_with_queued_work(bool orderly) {
  last_load = new Load(size_t{32} << 20);
  last_call = new ReduceBackward(4, 64, 4096);
  last_workspace = new Workspace(size_t{1} << 20);
  for (int i = 0; i < 4; ++i) {
    const bnapiStream stream = new_stream();
    last_load->enqueue(stream, 4);
    CHECK_OK(run(*last_call, *last_workspace, stream));
  }
  if (!orderly) _exit(check::result());
  return check::result();
}

void test_exit_with_queued_work(const char* program) {
  for (const char* how : {"exit", "_exit"}) {
    const pid_t child = fork();
    if (child == 0) {
      execl(program, program, how, static_cast<char*>(nullptr));
      _exit(127);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return end_with_queued_work(strcmp(argv[1], "exit") == 0);
  test_fifo();
  test_overlapping_copy();
  test_asynchronous();
  test_events();
  test_long_chain(2, 4000);
  test_long_chain(7, 4000);
  test_long_chain(1500, 3000);
  test_fan();
  test_default_stream();
  test_blocking_copy_settles();
  test_threads_over_streams();
  test_synchronize_from_many_threads();
  test_destroy_with_pending_work();
  test_same_bits();
  test_turns();
  CHECK_OK(bnapiSetNumThreads(3));
  test_threads_over_streams();
  test_finalize_with_work();
  // An emulated program cannot start itself again.
  if (getenv("BNAPI_EMULATED") == nullptr) test_exit_with_queued_work(argv[0]);
  return check::result();
}
