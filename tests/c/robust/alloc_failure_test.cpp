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

#include "alloc_failure.h"

namespace {

using alloc_failure::Case;
using alloc_failure::Fixture;
using alloc_failure::kNull;
using failing_memory::Armed;
using failing_memory::live;

std::vector<Case> cases() {
  std::vector<Case> all = alloc_failure::runtime_cases();
  for (auto more : {alloc_failure::operator_cases, alloc_failure::ascend_cases}) {
    for (Case& c : more())
      all.push_back(std::move(c));
  }
  return all;
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
    // The first attempt may leave something that the library keeps, and so the second, whose N-th allocation is then
    // another one; the third leaves nothing more.
    const bool reached = fails_at(c, f, n);
    fails_at(c, f, n);
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
  CHECK_OK(bnapiCreateEvent(&f.event));
  for (int i = 0; i < kSteps; ++i) {
    const bnapiStream stream = streams[i % kStreams];
    CHECK_OK(bnapiStreamWaitEvent(stream, f.event));
    CHECK_OK(bnapiMemcpyAsync(f.to.data(), f.to.size(), f.from.data(), i % 100 == 0 ? f.to.size() : 64,
                              BNAPI_MEMCPY_DEFAULT, stream));
    CHECK_OK(bnapiRecordEvent(f.event, stream));
  }
  CHECK_OK(bnapiSynchronizeEvent(f.event));
  CHECK(f.to == f.from);
  CHECK_OK(bnapiDestroyEvent(f.event));
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
  CHECK(allocations > 100);  // the operators were replaced indeed
  return check::result();
}
