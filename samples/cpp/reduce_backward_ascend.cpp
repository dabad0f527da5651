// aclnnBatchNormReduceBackward, written as for an Ascend card and run without one. It needs no other file,
// and builds on both stacks:
//
//     g++ -std=c++11 -I$P/ascend/include reduce_backward_ascend.cpp
//         -L$P/ascend/lib64 -lascendcl -lnnopbase -lopapi

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_batch_norm_backward_reduce.h"

// Ends the program with the library's own words if a call failed.
static void check(int status, const char* call) {
  if (status == 0) return;
  const char* text = aclGetRecentErrMsg();
  fprintf(stderr, "%s: %d\n%s", call, status, text != nullptr ? text : "");
  exit(1);
}
#define CHECK(call) check(call, #call)

// Device memory, and a tensor that describes it.
struct Array {
  void* memory = nullptr;
  aclTensor* tensor = nullptr;
  size_t count = 0;
};

static Array make(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  Array array;
  array.count = values.size();
  const size_t bytes = array.count * sizeof(float);
  CHECK(aclrtMalloc(&array.memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemcpy(array.memory, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  array.tensor = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                 shape.data(), shape.size(), array.memory);
  return array;
}

static void print(const char* name, const Array& array) {
  std::vector<float> values(array.count);
  const size_t bytes = array.count * sizeof(float);
  CHECK(aclrtMemcpy(values.data(), bytes, array.memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  printf("%-11s", name);
  for (float value : values)
    printf(" %g", value);
  printf("\n");
}

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream));

  // Four rows of two channels. sumDyXmu is the sum of dy * (x - mean), gradWeight that times invstd.
  const Array gradOut = make({4, 2}, {1, 1, 1, 2, 2, 2, 3, 3});
  const Array input = make({4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Array mean = make({2}, {1, 1});
  const Array invstd = make({2}, {1, 1});
  const Array sumDy = make({2}, {0, 0});
  const Array sumDyXmu = make({2}, {0, 0});
  const Array gradWeight = make({2}, {0, 0});
  const Array gradBias = make({2}, {0, 0});

  // Phase one checks the arguments and plans.
  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnBatchNormReduceBackwardGetWorkspaceSize(
      gradOut.tensor, input.tensor, mean.tensor, invstd.tensor, nullptr, true, true, true, sumDy.tensor,
      sumDyXmu.tensor, gradWeight.tensor, gradBias.tensor, &workspaceSize, &executor));
  void* workspace = nullptr;
  if (workspaceSize > 0) CHECK(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));

  // Phase two puts the work on the stream.
  CHECK(aclnnBatchNormReduceBackward(workspace, workspaceSize, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));

  print("sumDy", sumDy);
  print("sumDyXmu", sumDyXmu);
  print("gradWeight", gradWeight);
  print("gradBias", gradBias);

  for (const Array& array : {gradOut, input, mean, invstd, sumDy, sumDyXmu, gradWeight, gradBias}) {
    CHECK(aclDestroyTensor(array.tensor));
    CHECK(aclrtFree(array.memory));
  }
  if (workspace != nullptr) CHECK(aclrtFree(workspace));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
