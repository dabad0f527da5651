// What the aclnn samples of this folder share: a session on device 0, tensors with memory, and the
// two-phase call.
//
// Every name below that starts with acl is the vendor's interface; these programs build on its stack as well.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"

// Ends the program with the library's own words if a call failed.
inline void check(int status, const char* call) {
  if (status == 0) return;
  const char* text = aclGetRecentErrMsg();
  fprintf(stderr, "%s: %d\n%s", call, status, text != nullptr ? text : "");
  exit(1);
}
#define CHECK(call) check(call, #call)

struct Session {
  aclrtStream stream = nullptr;

  Session() {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
  }
  ~Session() {
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

// A tensor and its device memory. `Element` is the type as stored.
template <class Element>
class Tensor {
 public:
  Tensor(const std::vector<int64_t>& shape, const std::vector<Element>& values, aclDataType type = ACL_FLOAT,
         aclFormat format = ACL_FORMAT_ND)
      : count_(values.size()) {
    const size_t bytes = count_ * sizeof(Element);
    CHECK(aclrtMalloc(&memory_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(memory_, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    tensor_ = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, format, shape.data(),
                              shape.size(), memory_);
  }
  ~Tensor() {
    aclDestroyTensor(tensor_);
    aclrtFree(memory_);
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  operator aclTensor*() const { return tensor_; }

  std::vector<Element> values() const {
    std::vector<Element> values(count_);
    const size_t bytes = count_ * sizeof(Element);
    CHECK(aclrtMemcpy(values.data(), bytes, memory_, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
  }

  void print(const char* name) const {
    printf("%-11s", name);
    for (Element value : values())
      printf(" %.6g", static_cast<double>(value));
    printf("\n");
  }

 private:
  size_t count_;
  void* memory_ = nullptr;
  aclTensor* tensor_ = nullptr;
};

typedef aclnnStatus (*PhaseTwo)(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);

// Phase two: gets the workspace that phase one asked for, runs, and waits for the result.
inline void run(PhaseTwo phase_two, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  void* workspace = nullptr;
  if (workspaceSize > 0) CHECK(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(phase_two(workspace, workspaceSize, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));
  if (workspace != nullptr) CHECK(aclrtFree(workspace));
}
