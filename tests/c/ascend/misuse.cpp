// Descriptors and executors under the acl names, used rightly and wrongly: every mistake is a code and a
// text, never a crash. The operator is aclnnBatchNormReduceBackward on two channels of four values.

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnn/opdev/op_errno.h"
#include "aclnnop/aclnn_batch_norm_backward_reduce.h"
#include "check.h"

template <class Handle>
static Handle* garbage(uintptr_t value) {
  return reinterpret_cast<Handle*>(value);
}

static void* upload(const std::vector<float>& values) {
  void* memory = nullptr;
  EXPECT_OK(aclrtMalloc(&memory, values.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(
      aclrtMemcpy(memory, values.size() * 4, values.data(), values.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE));
  return memory;
}

static std::vector<float> download(void* memory) {
  std::vector<float> values(2);
  EXPECT_OK(aclrtMemcpy(values.data(), 8, memory, 8, ACL_MEMCPY_DEVICE_TO_HOST));
  return values;
}

static aclTensor* tensor(std::vector<int64_t> shape, void* memory, aclDataType type = ACL_FLOAT,
                         aclFormat format = ACL_FORMAT_ND) {
  return aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, format, shape.data(), shape.size(),
                         memory);
}

// One call's tensors. grad_out 1 1 / 1 2 / 2 2 / 3 3 and input 0..7 with mean 1: sums 7 8 and 21 30.
struct Call {
  void* data[2] = {upload({1, 1, 1, 2, 2, 2, 3, 3}), upload({0, 1, 2, 3, 4, 5, 6, 7})};
  void* ones = upload({1, 1});
  void* outs[4] = {upload({0, 0}), upload({0, 0}), upload({0, 0}), upload({0, 0})};
  aclTensor* grad_out = tensor({4, 2}, data[0]);
  aclTensor* input = tensor({4, 2}, data[1]);
  aclTensor* mean = tensor({2}, ones);
  aclTensor* invstd = tensor({2}, ones);
  aclTensor* outputs[4] = {tensor({2}, outs[0]), tensor({2}, outs[1]), tensor({2}, outs[2]),
                           tensor({2}, outs[3])};
  void* workspace = nullptr;
  uint64_t size = 0;
  aclOpExecutor* executor = garbage<aclOpExecutor>(0xABCDEF);

  aclnnStatus plan() {
    const aclnnStatus status = aclnnBatchNormReduceBackwardGetWorkspaceSize(
        grad_out, input, mean, invstd, nullptr, true, true, true, outputs[0], outputs[1], outputs[2],
        outputs[3], &size, &executor);
    if (status == 0 && size > 0 && workspace == nullptr) {
      EXPECT_OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    return status;
  }
  aclnnStatus run(aclrtStream stream = nullptr) {
    return aclnnBatchNormReduceBackward(workspace, size, executor, stream);
  }
  void expect_results() {
    EXPECT_OK(aclrtSynchronizeDevice());
    const std::vector<float> want[4] = {{7, 8}, {21, 30}, {21, 30}, {7, 8}};
    for (int i = 0; i < 4; ++i)
      EXPECT(download(outs[i]) == want[i]);
  }
  ~Call() {
    for (aclTensor* t : {grad_out, input, mean, invstd, outputs[0], outputs[1], outputs[2], outputs[3]}) {
      aclDestroyTensor(t);
    }
    for (void* memory : {data[0], data[1], ones, outs[0], outs[1], outs[2], outs[3]})
      aclrtFree(memory);
    if (workspace != nullptr) aclrtFree(workspace);
  }
};

static void tensors() {
  const int64_t dims[3] = {2, 3, 4};
  const int64_t strides[3] = {12, 4, 1};
  const int64_t storage[1] = {30};
  float memory[30] = {};
  aclTensor* t = aclCreateTensor(dims, 3, ACL_FLOAT, strides, 6, ACL_FORMAT_NCL, storage, 1, memory);
  EXPECT(t != nullptr);
  int64_t* values = nullptr;
  uint64_t number = 0;
  EXPECT_OK(aclGetViewShape(t, &values, &number));
  EXPECT(number == 3 && values[0] == 2 && values[2] == 4);
  delete[] values;  // the interface's rule: new[] there, delete[] here
  EXPECT_OK(aclGetViewStrides(t, &values, &number));
  EXPECT(number == 3 && values[0] == 12 && values[1] == 4 && values[2] == 1);
  delete[] values;
  EXPECT_OK(aclGetStorageShape(t, &values, &number));
  EXPECT(number == 1 && values[0] == 30);
  delete[] values;
  int64_t offset = 0;
  EXPECT_OK(aclGetViewOffset(t, &offset));
  EXPECT(offset == 6);
  aclFormat format = ACL_FORMAT_UNDEFINED;
  EXPECT_OK(aclGetFormat(t, &format));
  EXPECT(format == ACL_FORMAT_NCL);
  aclDataType type = ACL_DT_UNDEFINED;
  EXPECT_OK(aclGetDataType(t, &type));
  EXPECT(type == ACL_FLOAT);
  void* address = nullptr;
  EXPECT_OK(aclGetRawTensorAddr(t, &address));
  EXPECT(address == memory);
  EXPECT_OK(aclSetRawTensorAddr(t, memory + 1));
  EXPECT_OK(aclGetRawTensorAddr(t, &address));
  EXPECT(address == memory + 1);
  EXPECT_OK(aclInitTensor(t, nullptr, 0, ACL_BF16, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr));
  EXPECT_OK(aclGetViewShape(t, &values, &number));
  EXPECT(number == 3);
  delete[] values;
  EXPECT_OK(aclGetDataType(t, &type));
  EXPECT(type == ACL_BF16);
  EXPECT_OK(aclGetRawTensorAddr(t, &address));
  EXPECT(address == memory + 1);

  EXPECT(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, storage, 1, memory) == nullptr);
  EXPECT(aclGetRecentErrMsg() != nullptr);
  EXPECT(aclCreateTensor(dims, 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 1, memory) == nullptr);
  aclTensor* scalar = aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, memory);
  EXPECT(scalar != nullptr);
  EXPECT_OK(aclDestroyTensor(scalar));

  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclGetViewShape(nullptr, &values, &number));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclGetViewShape(t, nullptr, &number));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclGetViewStrides(t, &values, nullptr));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclGetViewOffset(t, nullptr));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclGetFormat(t, nullptr));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclGetDataType(nullptr, &type));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclGetRawTensorAddr(nullptr, &address));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclSetRawTensorAddr(nullptr, memory));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR,
               aclInitTensor(nullptr, dims, 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 3, memory));
  EXPECT_OK(aclDestroyTensor(nullptr));
  EXPECT_OK(aclDestroyTensor(t));
  for (aclTensor* dead : {t, garbage<aclTensor>(1), garbage<aclTensor>(~uintptr_t{0})}) {
    EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclDestroyTensor(dead));
    EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclGetViewShape(dead, &values, &number));
    EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclSetRawTensorAddr(dead, memory));
  }
}

static void arrays_and_lists() {
  const int64_t ints[2] = {3, 4};
  const float floats[3] = {1, 2, 3};
  const bool bools[4] = {true, false, true, true};
  uint64_t size = 0;
  aclIntArray* i = aclCreateIntArray(ints, 2);
  aclFloatArray* f = aclCreateFloatArray(floats, 3);
  aclBoolArray* b = aclCreateBoolArray(bools, 4);
  EXPECT_OK(aclGetIntArraySize(i, &size));
  EXPECT(size == 2);
  EXPECT_OK(aclGetFloatArraySize(f, &size));
  EXPECT(size == 3);
  EXPECT_OK(aclGetBoolArraySize(b, &size));
  EXPECT(size == 4);
  aclIntArray* nothing = aclCreateIntArray(nullptr, 7);
  EXPECT(nothing != nullptr);
  EXPECT_OK(aclGetIntArraySize(nothing, &size));
  EXPECT(size == 0);
  EXPECT_OK(aclDestroyIntArray(nothing));
  // One kind is not another.
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclGetFloatArraySize(reinterpret_cast<aclFloatArray*>(i), &size));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclDestroyTensorList(reinterpret_cast<aclTensorList*>(i)));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclGetIntArraySize(nullptr, &size));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclGetIntArraySize(i, nullptr));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclGetBoolArraySize(nullptr, &size));
  EXPECT_OK(aclDestroyIntArray(i));
  EXPECT_OK(aclDestroyFloatArray(f));
  EXPECT_OK(aclDestroyBoolArray(b));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclDestroyIntArray(i));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclDestroyFloatArray(garbage<aclFloatArray>(3)));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclDestroyBoolArray(b));
  EXPECT_OK(aclDestroyIntArray(nullptr));
  EXPECT_OK(aclDestroyFloatArray(nullptr));
  EXPECT_OK(aclDestroyBoolArray(nullptr));

  float value = 1.5f;
  aclScalar* s = aclCreateScalar(&value, ACL_FLOAT);
  EXPECT(s != nullptr);
  EXPECT(aclCreateScalar(nullptr, ACL_FLOAT) == nullptr);
  EXPECT(aclGetRecentErrMsg() != nullptr);
  aclScalar* scalars[2] = {s, nullptr};
  aclScalarList* scalar_list = aclCreateScalarList(scalars, 2);
  EXPECT_OK(aclGetScalarListSize(scalar_list, &size));
  EXPECT(size == 2);
  EXPECT_OK(aclDestroyScalarList(scalar_list));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclDestroyScalar(s));  // went with its list
  EXPECT_OK(aclDestroyScalar(nullptr));

  float memory[2];
  aclTensor* tensors[3] = {tensor({2}, memory), nullptr, tensor({1}, memory)};
  aclTensorList* list = aclCreateTensorList(tensors, 3);
  EXPECT_OK(aclGetTensorListSize(list, &size));
  EXPECT(size == 3);
  EXPECT_OK(aclDestroyTensorList(list));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclDestroyTensor(tensors[2]));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclDestroyTensorList(list));
  EXPECT_OK(aclDestroyTensorList(nullptr));
}

static void phase_one() {
  Call c;
  aclOpExecutor* const untouched = c.executor;
  const auto plan = [&](aclTensor* grad_out, aclTensor* input, aclTensor* mean, aclTensor* sum_dy) {
    c.size = 4711;
    const aclnnStatus status = aclnnBatchNormReduceBackwardGetWorkspaceSize(
        grad_out, input, mean, c.invstd, nullptr, true, true, true, sum_dy, c.outputs[1], c.outputs[2],
        c.outputs[3], &c.size, &c.executor);
    EXPECT(c.size == 4711 && c.executor == untouched);  // a failure leaves them alone
    return status;
  };
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, plan(nullptr, c.input, c.mean, c.outputs[0]));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, plan(c.grad_out, nullptr, c.mean, c.outputs[0]));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, plan(c.grad_out, c.input, c.mean, nullptr));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclnnBatchNormReduceBackwardGetWorkspaceSize(
                                            nullptr, nullptr, nullptr, nullptr, nullptr, true, true, true,
                                            nullptr, nullptr, nullptr, nullptr, nullptr, &c.executor));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR,
               aclnnBatchNormReduceBackwardGetWorkspaceSize(c.grad_out, c.input, c.mean, c.invstd, nullptr,
                                                            true, true, true, c.outputs[0], c.outputs[1],
                                                            c.outputs[2], c.outputs[3], &c.size, nullptr));

  // float64, everywhere: the neutral names take it, these do not.
  double wide[8] = {};
  aclTensor* big = tensor({4, 2}, wide, ACL_DOUBLE);
  aclTensor* small = tensor({2}, wide, ACL_DOUBLE);
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, plan(big, big, c.mean, c.outputs[0]));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, plan(c.grad_out, c.input, small, c.outputs[0]));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, plan(c.grad_out, c.input, c.mean, small));
  aclDestroyTensor(big);
  aclDestroyTensor(small);

  aclTensor* dead = tensor({4, 2}, c.data[0]);
  EXPECT_OK(aclDestroyTensor(dead));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, plan(dead, c.input, c.mean, c.outputs[0]));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, plan(garbage<aclTensor>(0x10), c.input, c.mean, c.outputs[0]));
  aclTensor* fractal = tensor({4, 2}, c.data[0], ACL_FLOAT, ACL_FORMAT_FRACTAL_NZ);
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, plan(fractal, fractal, c.mean, c.outputs[0]));
  aclDestroyTensor(fractal);

  // Types and formats that no operator takes, and numbers that are none: as C passes them.
  for (const int number : {5, 8, 33, 41, 1000, -7}) {
    aclDataType type;
    memcpy(&type, &number, sizeof(type));
    aclTensor* odd = tensor({4, 2}, wide, type);
    EXPECT(odd != nullptr);
    EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, plan(odd, odd, c.mean, c.outputs[0]));
    EXPECT_OK(aclDestroyTensor(odd));
  }
  for (const int number : {-1, 3, 33, 54, 1000}) {
    aclFormat format;
    memcpy(&format, &number, sizeof(format));
    aclTensor* odd = tensor({4, 2}, wide, ACL_FLOAT, format);
    EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, plan(odd, odd, c.mean, c.outputs[0]));
    EXPECT_OK(aclDestroyTensor(odd));
  }

  // The text names operator, parameter and what is allowed, in the vendor's words.
  aclGetRecentErrMsg();
  plan(nullptr, c.input, c.mean, c.outputs[0]);
  const char* text = aclGetRecentErrMsg();
  const std::string message = text != nullptr ? text : "";
  EXPECT(message.find("aclnnBatchNormReduceBackward") != std::string::npos);
  EXPECT(message.find("gradOut") != std::string::npos);
  EXPECT(message.find("EZ1001") != std::string::npos);
  EXPECT(message.find("bnapi") == std::string::npos);
}

static void phase_two() {
  Call c;
  EXPECT_OK(c.plan());
  EXPECT_OK(c.run());
  c.expect_results();
  aclOpExecutor* const spent = c.executor;
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, c.run());  // once is all
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, aclDestroyAclOpExecutor(spent));
  EXPECT_OK(aclDestroyOpExecutor(spent));
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, aclSetAclOpExecutorRepeatable(spent));
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclnnBatchNormReduceBackward(nullptr, 0, nullptr, nullptr));
  EXPECT_ERROR(ACLNN_ERR_INNER,
               aclnnBatchNormReduceBackward(nullptr, 0, garbage<aclOpExecutor>(0x77), nullptr));
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, aclDestroyAclOpExecutor(nullptr));
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, aclDestroyOpExecutor(nullptr));
  EXPECT_ERROR(ACLNN_ERR_INNER, aclDestroyAclOpExecutor(garbage<aclOpExecutor>(0x77)));
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, aclSetAclOpExecutorRepeatable(nullptr));
  EXPECT_ERROR(ACLNN_ERR_INNER, aclSetAclOpExecutorRepeatable(garbage<aclOpExecutor>(0x77)));

  // A workspace that is missing; the executor is gone all the same.
  EXPECT_OK(c.plan());
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, aclnnBatchNormReduceBackward(nullptr, 64, c.executor, nullptr));
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, c.run());
  // Dead and made-up streams.
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtDestroyStream(stream));
  for (void* dead : {stream, reinterpret_cast<void*>(uintptr_t{5})}) {
    EXPECT_OK(c.plan());
    EXPECT_ERROR(ACLNN_ERR_RUNTIME_ERROR, c.run(dead));
  }
  // A null address is found when it would be used.
  EXPECT_OK(aclSetRawTensorAddr(c.grad_out, nullptr));
  EXPECT_OK(c.plan());
  EXPECT_ERROR(ACLNN_ERR_PARAM_NULLPTR, c.run());
  EXPECT_OK(aclSetRawTensorAddr(c.grad_out, c.data[0]));

  // Tensors may go between the phases, and before the stream is done.
  EXPECT_OK(aclrtCreateStream(&stream));
  Call d;
  EXPECT_OK(d.plan());
  for (aclTensor** t : {&d.grad_out, &d.input, &d.mean, &d.invstd}) {
    EXPECT_OK(aclDestroyTensor(*t));
    *t = nullptr;
  }
  EXPECT_OK(d.run(stream));
  for (aclTensor*& t : d.outputs) {
    EXPECT_OK(aclDestroyTensor(t));
    t = nullptr;
  }
  EXPECT_OK(aclrtSynchronizeStream(stream));
  d.expect_results();

  // The phases on different threads; the second needs no device if it is given the stream.
  Call e;
  EXPECT_OK(e.plan());
  std::thread([&] { EXPECT_OK(e.run(stream)); }).join();
  EXPECT_OK(aclrtSynchronizeStream(stream));
  e.expect_results();
  EXPECT_OK(e.plan());
  std::thread([&] { EXPECT_ERROR(ACL_ERROR_RT_CONTEXT_NULL, e.run(nullptr)); }).join();
  EXPECT_OK(aclrtDestroyStream(stream));

  // Planned and thrown away.
  EXPECT_OK(c.plan());
  EXPECT_OK(aclDestroyAclOpExecutor(c.executor));
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, aclDestroyAclOpExecutor(c.executor));
}

static void repeatable() {
  Call c;
  // Planned on tensors without an address, aimed later.
  EXPECT_OK(aclSetRawTensorAddr(c.grad_out, nullptr));
  EXPECT_OK(c.plan());
  EXPECT_OK(aclSetAclOpExecutorRepeatable(c.executor));
  EXPECT_OK(AclSetTensorAddr(c.executor, 0, c.grad_out, c.data[0]));
  EXPECT_OK(c.run());
  c.expect_results();
  void* twice = upload({2, 2, 2, 4, 4, 4, 6, 6});
  EXPECT_OK(aclSetInputTensorAddr(c.executor, 0, c.grad_out, twice));
  EXPECT_OK(aclSetOutputTensorAddr(c.executor, 3, c.outputs[3], c.outs[0]));  // gradBias where sumDy was
  EXPECT_OK(aclSetTensorAddr(c.executor, 5, c.outputs[0], c.outs[3]));        // and the reverse
  EXPECT_OK(c.run());
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT(download(c.outs[3]) == (std::vector<float>{14, 16}));
  EXPECT(download(c.outs[0]) == (std::vector<float>{14, 16}));
  EXPECT(download(c.outs[1]) == (std::vector<float>{42, 60}));

  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, aclSetTensorAddr(nullptr, 0, c.grad_out, twice));
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, aclSetTensorAddr(c.executor, 0, nullptr, twice));
  EXPECT_ERROR(ACLNN_ERR_INNER, aclSetTensorAddr(garbage<aclOpExecutor>(9), 0, c.grad_out, twice));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclSetTensorAddr(c.executor, 9, c.grad_out, twice));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclSetInputTensorAddr(c.executor, 5, c.outputs[0], twice));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID,
               aclSetInputTensorAddr(c.executor, 4, c.grad_out, twice));  // weight was null
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID,
               aclSetInputTensorAddr(c.executor, 0, c.input, twice));  // not that one
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, AclSetOutputTensorAddr(c.executor, 4, c.outputs[3], twice));

  aclTensor* member = tensor({2}, c.ones);
  aclTensorList* list = aclCreateTensorList(&member, 1);
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, aclSetDynamicTensorAddr(nullptr, 0, 0, list, twice));
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, aclSetDynamicInputTensorAddr(c.executor, 0, 0, nullptr, twice));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclSetDynamicOutputTensorAddr(c.executor, 0, 1, list, twice));
  EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, AclSetDynamicTensorAddr(c.executor, 0, 0, list, twice));
  EXPECT_OK(aclDestroyTensorList(list));

  EXPECT_OK(aclDestroyAclOpExecutor(c.executor));
  EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, c.run());
  EXPECT_OK(aclrtFree(twice));
}

int main() {
  EXPECT_OK(aclnnInit("no such file"));
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  tensors();
  arrays_and_lists();
  phase_one();
  phase_two();
  repeatable();

  // The end with an executor that never ran.
  {
    Call c;
    EXPECT_OK(c.plan());
    EXPECT_OK(aclFinalize());
    EXPECT_ERROR(ACLNN_ERR_INNER_NULLPTR, c.run());
    EXPECT_ERROR(ACLNN_ERR_PARAM_INVALID, aclDestroyTensor(c.input));
  }
  EXPECT_OK(aclnnFinalize());
  if (failures == 0) printf("misuse: as it should be\n");
  return failures == 0 ? 0 : 1;
}
