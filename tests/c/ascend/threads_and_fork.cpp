// Many threads through the acl names at once, each with its own tensors and stream, sharing the default
// context and the device's count; then a child process: it can start afresh, and its parent's handles are
// dead there.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnn/opdev/op_errno.h"
#include "aclnnop/aclnn_batch_norm_backward_reduce.h"
#include "check.h"

// One call on `stream`: sums over four rows of two channels, scaled so that each caller has results of its
// own. False if anything fails or the results are another's.
static bool sums_are_right(float scale, aclrtStream stream) {
  const float dy[8] = {1, 1, 1, 2, 2, 2, 3, 3};
  float scaled[8];
  for (int i = 0; i < 8; ++i)
    scaled[i] = dy[i] * scale;
  const float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, ones[2] = {1, 1};
  void* memory[4] = {};
  const void* from[4] = {scaled, x, ones, ones};
  const size_t bytes[4] = {32, 32, 8, 8};
  bool right = true;
  for (int i = 0; i < 4; ++i) {
    right &= aclrtMalloc(&memory[i], bytes[i], ACL_MEM_MALLOC_HUGE_FIRST) == 0;
    right &= aclrtMemcpyAsync(memory[i], bytes[i], from[i], bytes[i], ACL_MEMCPY_HOST_TO_DEVICE, stream) == 0;
  }
  const int64_t data[2] = {4, 2}, channels[1] = {2};
  const auto tensor = [&](int which, bool is_data) {
    const int64_t* shape = is_data ? data : channels;
    const uint64_t rank = is_data ? 2 : 1;
    return aclCreateTensor(shape, rank, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, rank, memory[which]);
  };
  void* out = nullptr;
  right &= aclrtMalloc(&out, 16, ACL_MEM_MALLOC_HUGE_FIRST) == 0;
  aclTensor* tensors[6] = {tensor(0, true),  tensor(1, true), tensor(2, false),
                           tensor(3, false), nullptr,         nullptr};
  for (int i = 0; i < 2; ++i) {
    tensors[4 + i] = aclCreateTensor(channels, 1, ACL_FLOAT, nullptr, 2 * i, ACL_FORMAT_ND, channels, 1, out);
  }
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  right &= aclnnBatchNormReduceBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3],
                                                        nullptr, true, false, false, tensors[4], tensors[5],
                                                        nullptr, nullptr, &size, &executor) == 0;
  void* workspace = nullptr;
  if (size > 0) right &= aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0;
  right &= aclnnBatchNormReduceBackward(workspace, size, executor, stream) == 0;
  for (aclTensor* t : tensors)
    right &= aclDestroyTensor(t) == 0;
  float sums[4] = {};
  right &= aclrtMemcpyAsync(sums, 16, out, 16, ACL_MEMCPY_DEVICE_TO_HOST, stream) == 0;
  right &= aclrtSynchronizeStream(stream) == 0;
  right &= sums[0] == 7 * scale && sums[1] == 8 * scale && sums[2] == 21 * scale && sums[3] == 30 * scale;
  for (void* m : memory)
    right &= aclrtFree(m) == 0;
  right &= aclrtFree(out) == 0;
  if (workspace != nullptr) right &= aclrtFree(workspace) == 0;
  return right;
}

// It has no patience with children.
#if defined(__SANITIZE_THREAD__)
static const bool kThreadSanitizer = true;
#else
static const bool kThreadSanitizer = false;
#endif

static void many_threads() {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int number = 1; number <= 8; ++number) {
    threads.emplace_back([number, &wrong] {
      for (int round = 0; round < 20; ++round) {
        const float scale = static_cast<float>(number * 32 + round);
        aclrtStream stream = nullptr;
        aclrtContext own = nullptr;
        if (aclrtSetDevice(0) != 0) ++wrong;
        if (round % 2 == 1 && aclrtCreateContext(&own, 0) != 0) ++wrong;
        if (aclrtCreateStream(&stream) != 0) ++wrong;
        if (!sums_are_right(scale, stream)) ++wrong;
        if (!sums_are_right(scale, nullptr)) ++wrong;
        // Each thread has the text of its own mistake.
        if (aclrtSetDevice(1000 + number) != ACL_ERROR_RT_INVALID_DEVICEID) ++wrong;
        const char* text = aclGetRecentErrMsg();
        if (text == nullptr || strstr(text, std::to_string(1000 + number).c_str()) == nullptr) ++wrong;
        if (aclrtDestroyStream(stream) != 0) ++wrong;
        if (own != nullptr && aclrtDestroyContext(own) != 0) ++wrong;
        if (aclrtResetDevice(0) != 0) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT(wrong == 0);
}

static int in_the_child(aclrtStream stream, aclrtEvent event, aclrtContext context, aclIntArray* array) {
  int32_t device = -1;
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
  EXPECT_ERROR(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeEvent(event));
  EXPECT_ERROR(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(context));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclDestroyIntArray(array));
  EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT(sums_are_right(3, stream));
  EXPECT(sums_are_right(5, nullptr));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtResetDevice(0));
  fflush(stdout);
  return failures;
}

static void a_child() {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtGetCurrentContext(&context));
  const int64_t value = 1;
  aclIntArray* array = aclCreateIntArray(&value, 1);
  EXPECT(sums_are_right(1, stream));
  const pid_t child = fork();
  if (child == 0) _exit(in_the_child(stream, event, context, array));
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  // The parent goes on as if nothing had happened.
  EXPECT(sums_are_right(2, stream));
  EXPECT_OK(aclDestroyIntArray(array));
  EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtResetDevice(0));
}

// Argument "threads", or "fork": the latter on the CPU, since no CUDA device can be used in the child of a
// process that has used one.
int main(int argc, char** argv) {
  const bool forks = argc > 1 && strcmp(argv[1], "fork") == 0;
  if (forks) setenv("BNAPI_DEVICES", "cpu", 1);
  EXPECT_OK(aclInit(nullptr));
  if (forks) {
    if (!kThreadSanitizer) a_child();
  } else {
    EXPECT_OK(
        aclrtSetDevice(0));  // or the threads' counting would end the shared context under each other's feet
    many_threads();
    EXPECT_OK(aclrtResetDevice(0));
  }
  EXPECT_OK(aclFinalize());
  if (failures == 0) printf("%s: as it should be\n", forks ? "fork" : "threads");
  return failures == 0 ? 0 : 1;
}
