// A client that links none of the libraries: it opens them by name and looks everything up, the descriptors'
// functions through the handle of the operators' library. Argument 1 is the folder, 2 the operators' library.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_batch_norm_backward_reduce.h"

static void* open_library(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    printf("%s\n", dlerror());
    exit(1);
  }
  return handle;
}

template <class Function>
static Function* look_up(void* library, const char* name, Function*) {
  void* found = dlsym(library, name);
  if (found == nullptr) {
    printf("no %s: %s\n", name, dlerror());
    exit(1);
  }
  return reinterpret_cast<Function*>(found);
}
#define LOOK_UP(library, name) auto* p_##name = look_up(library, #name, static_cast<decltype(&name)>(nullptr))

#define MUST(call)                         \
  do {                                     \
    const int code = call;                 \
    if (code != 0) {                       \
      printf("%d from %s\n", code, #call); \
      return 1;                            \
    }                                      \
  } while (0)

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string folder = argv[1];
  void* ascendcl = open_library(folder + "/libascendcl.so");
  void* opapi = open_library(folder + "/" + argv[2]);

  LOOK_UP(ascendcl, aclInit);
  LOOK_UP(ascendcl, aclFinalize);
  LOOK_UP(ascendcl, aclrtSetDevice);
  LOOK_UP(ascendcl, aclrtResetDevice);
  LOOK_UP(ascendcl, aclrtMalloc);
  LOOK_UP(ascendcl, aclrtFree);
  LOOK_UP(ascendcl, aclrtMemcpy);
  LOOK_UP(ascendcl, aclrtSynchronizeStream);
  LOOK_UP(ascendcl, aclGetRecentErrMsg);
  LOOK_UP(opapi, aclCreateTensor);
  LOOK_UP(opapi, aclDestroyTensor);
  LOOK_UP(opapi, aclnnBatchNormReduceBackwardGetWorkspaceSize);
  LOOK_UP(opapi, aclnnBatchNormReduceBackward);
  for (const char* name :
       {"aclCreateScalar", "aclCreateIntArray", "aclCreateBoolArray", "aclCreateTensorList",
        "aclCreateScalarList", "aclGetViewShape", "aclDestroyAclOpExecutor", "aclSetAclOpExecutorRepeatable",
        "InitHugeMemThreadLocal", "ReleaseHugeMem", "UnInitHugeMemThreadLocal", "aclnnAdd",
        "aclnnAddGetWorkspaceSize", "aclnnMul", "aclnnRelu", "aclnnReduceSumGetWorkspaceSize"}) {
    if (dlsym(opapi, name) == nullptr) {
      printf("no %s through %s\n", name, argv[2]);
      return 1;
    }
  }
  for (const char* name : {"bnapiInit", "neutral", "PTAGetExecCache", "CanUsePTACache"}) {
    if (dlsym(ascendcl, name) != nullptr && std::string(name) != "bnapiInit") {
      printf("%s should not be there\n", name);
      return 1;
    }
  }

  MUST(p_aclInit(nullptr));
  MUST(p_aclrtSetDevice(0));
  const float values[8] = {1, 1, 1, 2, 2, 2, 3, 3}, input_values[8] = {0, 1, 2, 3, 4, 5, 6, 7},
              ones[2] = {1, 1};
  const int64_t data_shape[2] = {4, 2}, channel_shape[1] = {2};
  std::vector<void*> memory;
  std::vector<aclTensor*> tensors;
  const auto add = [&](const int64_t* shape, uint64_t rank, const float* from, size_t count) {
    void* place = nullptr;
    if (p_aclrtMalloc(&place, count * 4, ACL_MEM_MALLOC_HUGE_FIRST) != 0) exit(1);
    if (p_aclrtMemcpy(place, count * 4, from, count * 4, ACL_MEMCPY_HOST_TO_DEVICE) != 0) exit(1);
    memory.push_back(place);
    tensors.push_back(
        p_aclCreateTensor(shape, rank, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, rank, place));
  };
  add(data_shape, 2, values, 8);
  add(data_shape, 2, input_values, 8);
  for (int i = 0; i < 4; ++i)
    add(channel_shape, 1, ones, 2);

  // A failure in one library is told by another: there is one state.
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  if (p_aclnnBatchNormReduceBackwardGetWorkspaceSize(nullptr, nullptr, nullptr, nullptr, nullptr, true, true,
                                                     true, nullptr, nullptr, nullptr, nullptr, &size,
                                                     &executor) != 161001) {
    printf("null was accepted\n");
    return 1;
  }
  const std::string text = p_aclGetRecentErrMsg();
  if (text.find("aclnnBatchNormReduceBackward") == std::string::npos) {
    printf("no text for it\n");
    return 1;
  }

  MUST(p_aclnnBatchNormReduceBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3], nullptr,
                                                      true, false, false, tensors[4], tensors[5], nullptr,
                                                      nullptr, &size, &executor));
  void* workspace = nullptr;
  if (size > 0) MUST(p_aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(p_aclnnBatchNormReduceBackward(workspace, size, executor, nullptr));
  MUST(p_aclrtSynchronizeStream(nullptr));
  float sums[2][2];
  for (int i = 0; i < 2; ++i)
    MUST(p_aclrtMemcpy(sums[i], 8, memory[4 + i], 8, ACL_MEMCPY_DEVICE_TO_HOST));
  printf("sumDy %g %g, sumDyXmu %g %g\n", sums[0][0], sums[0][1], sums[1][0], sums[1][1]);
  for (aclTensor* tensor : tensors)
    MUST(p_aclDestroyTensor(tensor));
  for (void* place : memory)
    MUST(p_aclrtFree(place));
  if (workspace != nullptr) MUST(p_aclrtFree(workspace));
  MUST(p_aclrtResetDevice(0));
  MUST(p_aclFinalize());
  return 0;
}
