// Every entry point with its N-th allocation failing, for every N until it succeeds: the documented status and a
// message, nothing lost, and the library usable afterwards. And the library in a process that gets no threads.

#include "failing_memory.h"

// (after the replaced operators)
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "check.h"
#include "reduce_backward.h"

namespace {

using failing_memory::Armed;
using failing_memory::live;

constexpr bnapiStatus kNull = -1;  // stands for the null handle of a creator

// What all cases share. Made while allocations succeed.
struct Fixture {
  ReduceBackward small{2, 3, 8};
  ReduceBackward large{4, 24, 2048};
  std::vector<unsigned char> from = std::vector<unsigned char>(size_t{1} << 20, 1);
  std::vector<unsigned char> to = std::vector<unsigned char>(size_t{1} << 20, 0);
  std::vector<unsigned char> load_from = std::vector<unsigned char>(size_t{4} << 20, 1);
  std::vector<unsigned char> load_to = std::vector<unsigned char>(size_t{4} << 20, 0);
  Workspace workspace{size_t{1} << 20};
  // Results of the call under test.
  bnapiOpExecutor* executor = nullptr;
  uint64_t size = 0;
  bnapiStream stream = nullptr;
  bnapiEvent event = nullptr;
  bnapiTensor* tensor = nullptr;
  bnapiScalar* scalar = nullptr;
  bnapiBoolArray* array = nullptr;
  void* memory = nullptr;
  int64_t* dims = nullptr;
};

struct Case {
  const char* name;
  bnapiStatus out_of_memory;
  std::function<void(Fixture&)> before;
  std::function<bnapiStatus(Fixture&)> call;
  std::function<void(Fixture&)> after_success;
  // After failure, when there is something to release that `before` made.
  std::function<void(Fixture&)> after_failure;
};

void nothing(Fixture&) {}

// After finalize.
void tensors_anew(Fixture& f) {
  f.small.create();
  f.large.create();
}

void make_stream(Fixture& f) {
  CHECK_OK(bnapiCreateStream(&f.stream));
}

// A stream with work in it: what is enqueued now is queued, not run at once.
void make_busy_stream(Fixture& f) {
  make_stream(f);
  CHECK_OK(bnapiMemcpyAsync(f.load_to.data(), f.load_to.size(), f.load_from.data(), f.load_from.size(),
                            BNAPI_MEMCPY_DEFAULT, f.stream));
}

void drop_stream(Fixture& f) {
  CHECK_OK(bnapiDestroyStream(f.stream));
}

void make_event(Fixture& f) {
  CHECK_OK(bnapiCreateEvent(&f.event));
}

void drop_event(Fixture& f) {
  CHECK_OK(bnapiDestroyEvent(f.event));
}

void make_busy_event(Fixture& f) {
  make_busy_stream(f);
  make_event(f);
}

void drop_stream_and_event(Fixture& f) {
  drop_stream(f);
  drop_event(f);
}

bnapiTensor* make_tensor(Fixture& f, bool with_strides) {
  const int64_t dims[3] = {2, 3, 4};
  const int64_t strides[3] = {12, 4, 1};
  f.tensor = bnapiCreateTensor(dims, 3, BNAPI_FLOAT, with_strides ? strides : nullptr, 0, BNAPI_FORMAT_ND,
                               dims, 3, f.from.data());
  return f.tensor;
}

void drop_tensor(Fixture& f) {
  CHECK_OK(bnapiDestroyTensor(f.tensor));
}

void make_executor(Fixture& f, ReduceBackward& call) {
  call.spoil();
  CHECK_OK(call.plan(&f.size, &f.executor));
}

// Phase two failed: the executor is spent, and the outputs are as they were.
void spent(Fixture& f, const ReduceBackward& call) {
  CHECK_OK(bnapiSynchronizeStream(nullptr));
  for (const auto& out : call.out) {
    for (const float value : out)
      CHECK(value == -77.0f);
  }
  CHECK_STATUS(BNAPI_ERR_INNER_NULLPTR,
               bnapiBatchNormReduceBackward(f.workspace.memory, f.workspace.size, f.executor, nullptr));
}

const std::vector<Case>& cases() {
  static const std::vector<Case>* const all = new std::vector<Case>{
      {"Init", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing, [](Fixture&) { return bnapiInit(""); },
       [](Fixture& f) {
         CHECK_OK(bnapiFinalize());
         tensors_anew(f);
       },
       nothing},
      {"GetDeviceCount", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture&) {
         uint32_t count = 0;
         const bnapiStatus status = bnapiGetDeviceCount(&count);
         CHECK(status != BNAPI_SUCCESS || count >= 1);
         return status;
       },
       nothing, nothing},
      {"SetDevice", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing, [](Fixture&) { return bnapiSetDevice(0); },
       nothing, nothing},
      {"GetDevice", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture&) {
         int32_t device = -1;
         return bnapiGetDevice(&device);
       },
       nothing, nothing},
      {"GetDeviceType", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture&) {
         bnapiDeviceType type;
         return bnapiGetDeviceType(0, &type);
       },
       nothing, nothing},
      {"GetDeviceName", kNull, nothing,
       [](Fixture&) { return *bnapiGetDeviceName(0) == '\0' ? kNull : BNAPI_SUCCESS; }, nothing, nothing},
      {"GetBuildInfo", kNull, nothing,
       [](Fixture&) { return strcmp(bnapiGetBuildInfo(), "bn_api") == 0 ? kNull : BNAPI_SUCCESS; }, nothing,
       nothing},
      {"GetMemInfo", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture&) {
         size_t free_bytes = 0, total_bytes = 0;
         return bnapiGetMemInfo(&free_bytes, &total_bytes);
       },
       nothing, nothing},
      {"SynchronizeDevice", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_busy_stream,
       [](Fixture&) { return bnapiSynchronizeDevice(); }, drop_stream, drop_stream},

      {"Malloc", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture& f) { return bnapiMalloc(&f.memory, 1000); },
       [](Fixture& f) { CHECK_OK(bnapiFree(f.memory)); }, nothing},
      {"Malloc large", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture& f) { return bnapiMalloc(&f.memory, size_t{8} << 20); },
       [](Fixture& f) { CHECK_OK(bnapiFree(f.memory)); }, nothing},
      {"MallocHost", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture& f) { return bnapiMallocHost(&f.memory, 1000); },
       [](Fixture& f) { CHECK_OK(bnapiFreeHost(f.memory)); }, nothing},
      {"Free", BNAPI_ERR_RT_MEMORY_ALLOCATION, [](Fixture& f) { CHECK_OK(bnapiMalloc(&f.memory, 1000)); },
       [](Fixture& f) { return bnapiFree(f.memory); }, nothing,
       [](Fixture& f) { CHECK_OK(bnapiFree(f.memory)); }},
      {"Memcpy", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture& f) { return bnapiMemcpy(f.to.data(), 1000, f.from.data(), 1000, BNAPI_MEMCPY_DEFAULT); },
       nothing, nothing},
      {"Memset", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture& f) { return bnapiMemset(f.to.data(), 1000, 3, 1000); }, nothing, nothing},
      {"MemcpyAsync on the default stream", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture& f) {
         return bnapiMemcpyAsync(f.to.data(), 1000, f.from.data(), 1000, BNAPI_MEMCPY_DEFAULT, nullptr);
       },
       nothing, nothing},
      {"MemcpyAsync large", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_stream,
       [](Fixture& f) {
         return bnapiMemcpyAsync(f.to.data(), f.to.size(), f.from.data(), f.to.size(), BNAPI_MEMCPY_DEFAULT,
                                 f.stream);
       },
       drop_stream, drop_stream},
      {"MemcpyAsync queued", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_busy_stream,
       [](Fixture& f) {
         return bnapiMemcpyAsync(f.to.data(), 1000, f.from.data(), 1000, BNAPI_MEMCPY_DEFAULT, f.stream);
       },
       drop_stream, drop_stream},
      {"MemsetAsync queued", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_busy_stream,
       [](Fixture& f) { return bnapiMemsetAsync(f.to.data(), 1000, 3, 1000, f.stream); }, drop_stream,
       drop_stream},

      {"CreateStream", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture& f) { return bnapiCreateStream(&f.stream); }, drop_stream, nothing},
      {"DestroyStream", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_busy_stream,
       [](Fixture& f) { return bnapiDestroyStream(f.stream); }, nothing, drop_stream},
      {"SynchronizeStream", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_busy_stream,
       [](Fixture& f) { return bnapiSynchronizeStream(f.stream); }, drop_stream, drop_stream},
      {"SynchronizeStream, the default one", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture&) { return bnapiSynchronizeStream(nullptr); }, nothing, nothing},
      {"StreamQuery", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_busy_stream,
       [](Fixture& f) {
         bool complete = false;
         return bnapiStreamQuery(f.stream, &complete);
       },
       drop_stream, drop_stream},
      {"StreamWaitEvent", BNAPI_ERR_RT_MEMORY_ALLOCATION,
       [](Fixture& f) {
         make_busy_event(f);
         CHECK_OK(bnapiRecordEvent(f.event, f.stream));
       },
       [](Fixture& f) { return bnapiStreamWaitEvent(f.stream, f.event); }, drop_stream_and_event,
       drop_stream_and_event},

      {"CreateEvent", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture& f) { return bnapiCreateEvent(&f.event); }, drop_event, nothing},
      {"RecordEvent", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_event,
       [](Fixture& f) { return bnapiRecordEvent(f.event, nullptr); }, drop_event, drop_event},
      {"RecordEvent queued", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_busy_event,
       [](Fixture& f) { return bnapiRecordEvent(f.event, f.stream); }, drop_stream_and_event,
       [](Fixture& f) {
         // The event was not recorded.
         bool complete = false;
         CHECK_OK(bnapiQueryEvent(f.event, &complete));
         CHECK(complete);
         drop_stream_and_event(f);
       }},

      {"CreateTensor", kNull, nothing,
       [](Fixture& f) { return make_tensor(f, true) == nullptr ? kNull : BNAPI_SUCCESS; }, drop_tensor,
       nothing},
      {"CreateTensor without strides", kNull, nothing,
       [](Fixture& f) { return make_tensor(f, false) == nullptr ? kNull : BNAPI_SUCCESS; }, drop_tensor,
       nothing},
      {"DestroyTensor", BNAPI_ERR_RT_MEMORY_ALLOCATION, [](Fixture& f) { make_tensor(f, true); },
       [](Fixture& f) { return bnapiDestroyTensor(f.tensor); }, nothing, drop_tensor},
      {"InitTensor", BNAPI_ERR_INNER, [](Fixture& f) { make_tensor(f, true); },
       [](Fixture& f) {
         const int64_t dims[4] = {1, 2, 3, 4};
         return bnapiInitTensor(f.tensor, dims, 4, BNAPI_FLOAT16, nullptr, 0, BNAPI_FORMAT_NCHW, dims, 4,
                                nullptr);
       },
       drop_tensor,
       [](Fixture& f) {
         // As it was.
         bnapiDataType type;
         CHECK_OK(bnapiGetDataType(f.tensor, &type));
         CHECK(type == BNAPI_FLOAT);
         drop_tensor(f);
       }},
      {"SetRawTensorAddr", BNAPI_ERR_INNER, [](Fixture& f) { make_tensor(f, true); },
       [](Fixture& f) { return bnapiSetRawTensorAddr(f.tensor, f.to.data()); }, drop_tensor, drop_tensor},
      {"GetViewShape", BNAPI_ERR_INNER, [](Fixture& f) { make_tensor(f, true); },
       [](Fixture& f) {
         uint64_t count = 0;
         return bnapiGetViewShape(f.tensor, &f.dims, &count);
       },
       [](Fixture& f) {
         bnapiReleaseDims(f.dims);
         drop_tensor(f);
       },
       drop_tensor},
      {"CreateScalar", kNull, nothing,
       [](Fixture& f) {
         double value = 1.5;
         f.scalar = bnapiCreateScalar(&value, BNAPI_DOUBLE);
         return f.scalar == nullptr ? kNull : BNAPI_SUCCESS;
       },
       [](Fixture& f) { CHECK_OK(bnapiDestroyScalar(f.scalar)); }, nothing},
      {"CreateBoolArray", kNull, nothing,
       [](Fixture& f) {
         const bool values[3] = {true, false, true};
         f.array = bnapiCreateBoolArray(values, 3);
         return f.array == nullptr ? kNull : BNAPI_SUCCESS;
       },
       [](Fixture& f) { CHECK_OK(bnapiDestroyBoolArray(f.array)); }, nothing},

      {"phase one", BNAPI_ERR_INNER_CREATE_EXECUTOR,
       [](Fixture& f) {
         f.size = 12345;
         f.executor = nullptr;
       },
       [](Fixture& f) { return f.small.plan(&f.size, &f.executor); },
       [](Fixture& f) { CHECK_OK(bnapiDestroyOpExecutor(f.executor)); },
       [](Fixture& f) { CHECK(f.size == 12345 && f.executor == nullptr); }},
      {"phase one, large", BNAPI_ERR_INNER_CREATE_EXECUTOR, nothing,
       [](Fixture& f) { return f.large.plan(&f.size, &f.executor); },
       [](Fixture& f) { CHECK_OK(bnapiDestroyOpExecutor(f.executor)); }, nothing},
      {"phase two", BNAPI_ERR_RUNTIME_ERROR, [](Fixture& f) { make_executor(f, f.small); },
       [](Fixture& f) {
         return bnapiBatchNormReduceBackward(f.workspace.memory, f.size, f.executor, nullptr);
       },
       [](Fixture& f) {
         CHECK_OK(bnapiSynchronizeStream(nullptr));
         CHECK(f.small.right());
       },
       [](Fixture& f) { spent(f, f.small); }},
      {"phase two, large", BNAPI_ERR_RUNTIME_ERROR, [](Fixture& f) { make_executor(f, f.large); },
       [](Fixture& f) {
         return bnapiBatchNormReduceBackward(f.workspace.memory, f.size, f.executor, nullptr);
       },
       [](Fixture& f) {
         CHECK_OK(bnapiSynchronizeStream(nullptr));
         CHECK(f.large.right());
       },
       [](Fixture& f) { spent(f, f.large); }},
      {"phase two, queued", BNAPI_ERR_RUNTIME_ERROR,
       [](Fixture& f) {
         make_busy_stream(f);
         make_executor(f, f.small);
       },
       [](Fixture& f) {
         return bnapiBatchNormReduceBackward(f.workspace.memory, f.size, f.executor, f.stream);
       },
       [](Fixture& f) {
         drop_stream(f);
         CHECK(f.small.right());
       },
       [](Fixture& f) {
         drop_stream(f);
         spent(f, f.small);
       }},
      {"SetOpExecutorRepeatable", BNAPI_ERR_INNER, [](Fixture& f) { make_executor(f, f.small); },
       [](Fixture& f) { return bnapiSetOpExecutorRepeatable(f.executor); },
       [](Fixture& f) { CHECK_OK(bnapiDestroyOpExecutor(f.executor)); },
       [](Fixture& f) { CHECK_OK(bnapiDestroyOpExecutor(f.executor)); }},
      {"SetTensorAddr", BNAPI_ERR_INNER, [](Fixture& f) { make_executor(f, f.small); },
       [](Fixture& f) { return bnapiSetTensorAddr(f.executor, 0, f.small.inputs[0], f.small.dy.data()); },
       [](Fixture& f) { CHECK_OK(bnapiDestroyOpExecutor(f.executor)); },
       [](Fixture& f) { CHECK_OK(bnapiDestroyOpExecutor(f.executor)); }},
      {"DestroyOpExecutor", BNAPI_ERR_INNER, [](Fixture& f) { make_executor(f, f.small); },
       [](Fixture& f) { return bnapiDestroyOpExecutor(f.executor); }, nothing,
       [](Fixture& f) { CHECK_OK(bnapiDestroyOpExecutor(f.executor)); }},
      {"Finalize", BNAPI_ERR_RT_MEMORY_ALLOCATION,
       [](Fixture& f) {
         make_busy_event(f);
         make_executor(f, f.small);
         CHECK_OK(bnapiInit(nullptr));
       },
       [](Fixture&) { return bnapiFinalize(); }, tensors_anew, nothing},
  };
  return *all;
}

bool library_works(Fixture& f) {
  for (ReduceBackward* call : {&f.small, &f.large}) {
    call->spoil();
    if (!CHECK_OK(run(*call, f.workspace, nullptr)) || !CHECK_OK(bnapiSynchronizeStream(nullptr)))
      return false;
    CHECK(call->right());
  }
  return true;
}

// The case with its N-th allocation failing. True if it was reached.
bool fails_at(const Case& c, Fixture& f, int64_t n) {
  c.before(f);
  bnapiStatus status;
  bool reached;
  {
    const Armed armed(n);
    status = c.call(f);
    reached = Armed::spent();
  }
  if (status == BNAPI_SUCCESS) {
    c.after_success(f);
    return reached;  // an allocation that failed and was not needed
  }
  CHECK_STATUS(c.out_of_memory, status);
  CHECK(reached);
  CHECK(strstr(bnapiGetRecentErrMsg(), "memory") != nullptr);
  c.after_failure(f);
  return true;
}

// Threads of the pool may hold the last piece of a call for a moment after its result is there.
bool comes_down_to(int64_t expected) {
  for (int i = 0; i < 5000 && live > expected; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return live <= expected;
}

constexpr int64_t kMany = 1000;  // no call allocates so often

// Every N in this process, whose library is in use. Returns how many allocations the case has.
int test_in_use(const Case& c, Fixture& f) {
  library_works(f);
  for (int64_t n = 1; n < kMany; ++n) {
    const int failures = check::failures();
    // The first attempt may leave something that the library keeps; the second leaves nothing more.
    const bool reached = fails_at(c, f, n);
    CHECK(library_works(f));
    const int64_t before = live;
    fails_at(c, f, n);
    CHECK(library_works(f));
    CHECK(comes_down_to(before));
    if (check::failures() != failures)
      fprintf(stderr, "  in \"%s\", allocation %d\n", c.name, static_cast<int>(n));
    if (!reached || check::failures() != failures) return static_cast<int>(n - 1);
  }
  CHECK(!"ends");
  return 0;
}

[[maybe_unused]] int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    check::failures() = 0;
    const int code = body();
    _exit(check::failures() == 0 ? code : 100);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Every N in a process of its own, whose library has only made tensors so far.
[[maybe_unused]] void test_first_use(const Case& c) {
  for (int64_t n = 1; n < kMany; ++n) {
    const int code = in_child([&] {
      Fixture f;
      const bool reached = fails_at(c, f, n);
      CHECK(library_works(f));
      return reached ? 1 : 0;
    });
    CHECK(code == 0 || code == 1);
    if (code == 1) continue;
    if (code != 0)
      fprintf(stderr, "  %d in \"%s\" on first use, allocation %d\n", code, c.name, static_cast<int>(n));
    return;
  }
  CHECK(!"ends");
}

// No thread can be had: the callers do the work, also a long chain across streams.
[[maybe_unused]] void test_without_threads() {
  failing_memory::no_threads = true;
  CHECK_OK(bnapiSetNumThreads(4));
  Fixture f;
  CHECK(library_works(f));
  constexpr int kStreams = 3;
  constexpr int kSteps = 3000;
  bnapiStream streams[kStreams];
  for (bnapiStream& stream : streams)
    CHECK_OK(bnapiCreateStream(&stream));
  make_event(f);
  for (int i = 0; i < kSteps; ++i) {
    const bnapiStream stream = streams[i % kStreams];
    CHECK_OK(bnapiStreamWaitEvent(stream, f.event));
    CHECK_OK(bnapiMemcpyAsync(f.to.data(), f.to.size(), f.from.data(), i % 100 == 0 ? f.to.size() : 64,
                              BNAPI_MEMCPY_DEFAULT, stream));
    CHECK_OK(bnapiRecordEvent(f.event, stream));
  }
  CHECK_OK(bnapiSynchronizeEvent(f.event));
  CHECK(f.to == f.from);
  drop_event(f);
  for (const bnapiStream stream : streams)
    CHECK_OK(bnapiDestroyStream(stream));
  // Threads again.
  failing_memory::no_threads = false;
  CHECK(library_works(f));
}

}  // namespace

int main() {
#if !defined(__SANITIZE_THREAD__)  // which does not follow threads that a forked child starts
  const auto without_threads = [] {
    test_without_threads();
    return 0;
  };
  CHECK(in_child(without_threads) == 0);
  for (const Case& c : cases())
    test_first_use(c);
#endif
  Fixture f;
  int allocations = 0;
  for (const Case& c : cases())
    allocations += test_in_use(c, f);
  printf("%d cases, %d allocations failed in turn\n", static_cast<int>(cases().size()), allocations);
  CHECK(allocations > 40);  // the operators were replaced indeed
  return check::result();
}
