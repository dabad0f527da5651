// fork() while the library is at work: the child can use it, the parent's handles are dead there, and the parent
// goes on undisturbed.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "check.h"
#include "reduce_backward.h"

namespace {

// GCC's address sanitizer does not hold its allocator's locks across fork: a child whose parent had a thread inside
// malloc or free waits for it for ever, in the sanitizer.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kForksAtRest = true;
#else
constexpr bool kForksAtRest = false;
#endif

int in_child(const std::function<void()>& body) {
  // Workers let go of what they ran a moment after the caller hears that it is done.
  if (kForksAtRest) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const pid_t child = fork();
  if (child == 0) {
    check::failures() = 0;
    alarm(60);  // a child that hangs is a failure, not a wait
    body();
    _exit(check::failures() == 0 ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Both phases with objects of this process, small and large, on the default stream and on a new one.
void use_the_library() {
  for (const int64_t inner : {8, 4096}) {
    ReduceBackward call(4, 16, inner);
    uint64_t size = 0;
    bnapiOpExecutor* executor = nullptr;
    bnapiStream stream = nullptr;
    bnapiEvent event = nullptr;
    CHECK_OK(call.plan(&size, &executor));
    CHECK_OK(bnapiSetOpExecutorRepeatable(executor));
    CHECK_OK(bnapiCreateStream(&stream));
    CHECK_OK(bnapiCreateEvent(&event));
    Workspace workspace(size);
    for (const bnapiStream on : {static_cast<bnapiStream>(nullptr), stream}) {
      call.spoil();
      CHECK_OK(bnapiBatchNormReduceBackward(workspace.memory, size, executor, on));
      CHECK_OK(bnapiRecordEvent(event, on));
      CHECK_OK(bnapiSynchronizeEvent(event));
      CHECK_OK(bnapiSynchronizeStream(on));
      CHECK(call.right());
    }
    CHECK_OK(bnapiDestroyEvent(event));
    CHECK_OK(bnapiDestroyStream(stream));
    CHECK_OK(bnapiDestroyOpExecutor(executor));
  }
  CHECK_OK(bnapiSynchronizeDevice());
}

void test_handles_of_the_parent() {
  ReduceBackward call(4, 16, 4096);
  uint64_t size = 0;
  bnapiOpExecutor* executor = nullptr;
  bnapiStream stream = nullptr;
  bnapiEvent event = nullptr;
  CHECK_OK(call.plan(&size, &executor));
  CHECK_OK(bnapiSetOpExecutorRepeatable(executor));
  CHECK_OK(bnapiCreateStream(&stream));
  CHECK_OK(bnapiCreateEvent(&event));
  int value = 3;
  bnapiScalar* scalar = bnapiCreateScalar(&value, BNAPI_INT32);
  const bool flag = true;
  bnapiBoolArray* array = bnapiCreateBoolArray(&flag, 1);
  Workspace workspace(size);
  // Work in flight and behind it, in both streams.
  std::vector<unsigned char> from(size_t{16} << 20, 1), to(from.size(), 0), to_default(from.size(), 0);
  for (int i = 0; i < 4; ++i) {
    CHECK_OK(bnapiMemcpyAsync(to.data(), to.size(), from.data(), from.size(), BNAPI_MEMCPY_DEFAULT, stream));
    CHECK_OK(bnapiMemcpyAsync(to_default.data(), to.size(), from.data(), from.size(), BNAPI_MEMCPY_DEFAULT,
                              nullptr));
  }
  CHECK_OK(bnapiBatchNormReduceBackward(workspace.memory, size, executor, stream));
  CHECK_OK(bnapiRecordEvent(event, stream));
  if (kForksAtRest) CHECK_OK(bnapiSynchronizeDevice());

  const int code = in_child([&] {
    CHECK_STATUS(BNAPI_ERR_RT_INVALID_HANDLE, bnapiSynchronizeStream(stream));
    CHECK_STATUS(BNAPI_ERR_RT_INVALID_HANDLE, bnapiDestroyStream(stream));
    CHECK_STATUS(BNAPI_ERR_RT_INVALID_HANDLE, bnapiSynchronizeEvent(event));
    CHECK_STATUS(BNAPI_ERR_RT_INVALID_HANDLE, bnapiRecordEvent(event, nullptr));
    CHECK_STATUS(BNAPI_ERR_INNER_NULLPTR,
                 bnapiBatchNormReduceBackward(workspace.memory, size, executor, nullptr));
    CHECK_STATUS(BNAPI_ERR_INNER_NULLPTR, bnapiDestroyOpExecutor(executor));
    uint64_t other_size = 0;
    bnapiOpExecutor* other = nullptr;
    CHECK_REFUSED(BNAPI_ERR_PARAM_INVALID, call.plan(&other_size, &other), "gradOut", "not a live tensor");
    CHECK_STATUS(BNAPI_ERR_PARAM_INVALID, bnapiDestroyTensor(call.inputs[0]));
    CHECK_STATUS(BNAPI_ERR_PARAM_INVALID, bnapiDestroyScalar(scalar));
    CHECK_STATUS(BNAPI_ERR_PARAM_INVALID, bnapiDestroyBoolArray(array));
    use_the_library();
    // A child of the child as well.
    CHECK(in_child(use_the_library) == 0);
    CHECK_OK(bnapiFinalize());
    use_the_library();
  });
  CHECK(code == 0);

  // The parent's work arrives, and its handles live.
  CHECK_OK(bnapiSynchronizeEvent(event));
  CHECK_OK(bnapiSynchronizeStream(stream));
  CHECK_OK(bnapiSynchronizeStream(nullptr));
  CHECK(call.right());
  CHECK(to == from && to_default == from);
  CHECK_OK(bnapiDestroyScalar(scalar));
  CHECK_OK(bnapiDestroyBoolArray(array));
  CHECK_OK(bnapiDestroyOpExecutor(executor));
  CHECK_OK(bnapiDestroyEvent(event));
  CHECK_OK(bnapiDestroyStream(stream));
}

// Forks again and again while other threads create, run, wait and destroy.
void test_fork_while_others_work() {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop)
        use_the_library();
    });
  }
  for (int i = 0; i < 30; ++i)
    CHECK(in_child(use_the_library) == 0);
  stop = true;
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace

int main() {
  // The first child is forked before the library has done anything.
  CHECK(in_child(use_the_library) == 0);
  CHECK_OK(bnapiSetNumThreads(3));
  test_handles_of_the_parent();
  if (!kForksAtRest) test_fork_while_others_work();
  use_the_library();
  return check::result();
}
