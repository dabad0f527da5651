// Misuse: every function given null, dead, made-up and foreign things. A status and a message that names the
// parameter each time, never a crash; the address sanitizer build checks that nothing is read, written or lost.

#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "reduce_backward.h"

namespace {

constexpr bnapiStatus kInvalid = BNAPI_ERR_PARAM_INVALID;

template <class Handle>
Handle as_handle(uint64_t bits) {
  return reinterpret_cast<Handle>(bits);  // NOLINT: handles are values
}

void test_null_in_runtime() {
  const bnapiStatus null = BNAPI_ERR_INVALID_PARAM;
  char memory[16] = {};
  int32_t device = 0;
  bool complete = false;
  float ms = 0;
  size_t bytes = 0;
  bnapiEvent event = nullptr;
  CHECK_OK(bnapiCreateEvent(&event));
  CHECK_REFUSED(null, bnapiGetDeviceCount(nullptr), "count");
  CHECK_REFUSED(null, bnapiGetDevice(nullptr), "device");
  CHECK_REFUSED(null, bnapiGetDeviceType(0, nullptr), "type");
  CHECK_REFUSED(null, bnapiGetDeviceOrdinal(0, nullptr), "ordinal");
  CHECK_REFUSED(null, bnapiGetMemInfo(nullptr, &bytes), "free_bytes");
  CHECK_REFUSED(null, bnapiGetMemInfo(&bytes, nullptr), "total_bytes");
  CHECK_REFUSED(null, bnapiMalloc(nullptr, 16), "ptr");
  CHECK_REFUSED(null, bnapiMallocHost(nullptr, 16), "ptr");
  CHECK_REFUSED(null, bnapiFree(nullptr), "ptr");
  CHECK_REFUSED(null, bnapiFreeHost(nullptr), "ptr");
  CHECK_REFUSED(null, bnapiMemcpy(nullptr, 16, memory, 16, BNAPI_MEMCPY_DEFAULT), "dst");
  CHECK_REFUSED(null, bnapiMemcpy(memory, 16, nullptr, 16, BNAPI_MEMCPY_DEFAULT), "src");
  CHECK_REFUSED(null, bnapiMemcpyAsync(nullptr, 16, memory, 16, BNAPI_MEMCPY_DEFAULT, nullptr), "dst");
  CHECK_REFUSED(null, bnapiMemcpyAsync(memory, 16, nullptr, 16, BNAPI_MEMCPY_DEFAULT, nullptr), "src");
  CHECK_REFUSED(null, bnapiMemset(nullptr, 16, 0, 16), "dst");
  CHECK_REFUSED(null, bnapiMemsetAsync(nullptr, 16, 0, 16, nullptr), "dst");
  CHECK_OK(bnapiMemcpy(nullptr, 0, nullptr, 0, BNAPI_MEMCPY_DEFAULT));  // nothing to copy
  CHECK_REFUSED(null, bnapiCreateStream(nullptr), "stream");
  CHECK_REFUSED(null, bnapiStreamFromNative(nullptr, nullptr), "stream");
  CHECK_REFUSED(null, bnapiStreamGetNative(nullptr, nullptr), "native");
  CHECK_REFUSED(null, bnapiDestroyStream(nullptr), "stream");
  CHECK_REFUSED(null, bnapiStreamQuery(nullptr, nullptr), "complete");
  CHECK_REFUSED(null, bnapiStreamWaitEvent(nullptr, nullptr), "event");
  CHECK_REFUSED(null, bnapiStreamGetDevice(nullptr, nullptr), "device");
  CHECK_REFUSED(null, bnapiCreateEvent(nullptr), "event");
  CHECK_REFUSED(null, bnapiDestroyEvent(nullptr), "event");
  CHECK_REFUSED(null, bnapiRecordEvent(nullptr, nullptr), "event");
  CHECK_REFUSED(null, bnapiQueryEvent(nullptr, &complete), "event");
  CHECK_REFUSED(null, bnapiQueryEvent(event, nullptr), "complete");
  CHECK_REFUSED(null, bnapiSynchronizeEvent(nullptr), "event");
  CHECK_REFUSED(null, bnapiSynchronizeEventWithTimeout(nullptr, 1), "event");
  CHECK_REFUSED(null, bnapiEventElapsedTime(nullptr, event, event), "elapsed_ms");
  CHECK_REFUSED(null, bnapiEventElapsedTime(&ms, nullptr, event), "start");
  CHECK_REFUSED(null, bnapiEventElapsedTime(&ms, event, nullptr), "end");
  CHECK_OK(bnapiGetVersion(nullptr, nullptr, nullptr));
  CHECK_REFUSED(null, bnapiSetNumThreads(0), "threads", "0");
  CHECK_REFUSED(null, bnapiSetNumThreads(-3), "threads", "-3");
  CHECK_REFUSED(BNAPI_ERR_RT_INVALID_DEVICEID, bnapiSetDevice(-1), "-1");
  CHECK_REFUSED(BNAPI_ERR_RT_INVALID_DEVICEID, bnapiSetDevice(1000), "1000");
  CHECK_REFUSED(BNAPI_ERR_RT_INVALID_DEVICEID, bnapiGetDeviceOrdinal(1000, &device), "1000");
  CHECK(strcmp(bnapiGetDeviceName(-1), "") == 0);
  CHECK_OK(bnapiDestroyEvent(event));
}

void test_memory() {
  void* memory = nullptr;
  char other[64] = {};
  CHECK_REFUSED(BNAPI_ERR_INVALID_PARAM, bnapiMalloc(&memory, 0), "size", "0");
  CHECK_REFUSED(BNAPI_ERR_RT_MEMORY_ALLOCATION, bnapiMalloc(&memory, SIZE_MAX), "memory");
  CHECK_REFUSED(BNAPI_ERR_RT_MEMORY_ALLOCATION, bnapiMalloc(&memory, SIZE_MAX / 2), "memory");
  CHECK_OK(bnapiMalloc(&memory, 100));
  CHECK(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
  CHECK_REFUSED(BNAPI_ERR_RT_PARAM_INVALID, bnapiFree(static_cast<char*>(memory) + 8), "address");
  CHECK_REFUSED(BNAPI_ERR_RT_PARAM_INVALID, bnapiFree(other), "address");
  CHECK_REFUSED(BNAPI_ERR_RT_PARAM_INVALID, bnapiFreeHost(memory), "address");
  CHECK_REFUSED(BNAPI_ERR_RT_PARAM_INVALID, bnapiMemcpy(memory, 99, other, 100, BNAPI_MEMCPY_DEFAULT),
                "count", "99");
  CHECK_REFUSED(BNAPI_ERR_RT_PARAM_INVALID, bnapiMemset(memory, 99, 0, 100), "count", "99");
  CHECK_REFUSED(BNAPI_ERR_RT_PARAM_INVALID, bnapiMemsetAsync(memory, 99, 0, 100, nullptr), "count", "99");
  CHECK_REFUSED(BNAPI_ERR_INVALID_PARAM, bnapiMemcpy(memory, 100, other, 64, static_cast<bnapiMemcpyKind>(7)),
                "kind");
  CHECK_OK(bnapiFree(memory));
  CHECK_REFUSED(BNAPI_ERR_RT_PARAM_INVALID, bnapiFree(memory), "address");
}

void test_null_in_descriptors() {
  const bnapiStatus null = BNAPI_ERR_PARAM_NULLPTR;
  const int64_t dims[2] = {2, 3};
  float data[6] = {};
  bnapiTensor* tensor = bnapiCreateTensor(dims, 2, BNAPI_FLOAT, nullptr, 0, BNAPI_FORMAT_ND, dims, 2, data);
  CHECK(tensor != nullptr);
  CHECK(bnapiCreateTensor(nullptr, 2, BNAPI_FLOAT, nullptr, 0, BNAPI_FORMAT_ND, dims, 2, data) == nullptr);
  CHECK(strstr(bnapiGetRecentErrMsg(), "viewDims") != nullptr);
  CHECK(bnapiCreateTensor(dims, 2, BNAPI_FLOAT, nullptr, 0, BNAPI_FORMAT_ND, nullptr, 2, data) == nullptr);
  CHECK(strstr(bnapiGetRecentErrMsg(), "storageDims") != nullptr);
  // An uninitialised count is not followed; a rank that only operators refuse is described.
  for (const uint64_t many : {uint64_t{65}, uint64_t{1} << 20, UINT64_MAX}) {
    CHECK(bnapiCreateTensor(dims, many, BNAPI_FLOAT, nullptr, 0, BNAPI_FORMAT_ND, dims, 2, data) == nullptr);
    CHECK(strstr(bnapiGetRecentErrMsg(), "viewDimsNum") != nullptr);
    CHECK(bnapiCreateTensor(dims, 2, BNAPI_FLOAT, dims, 0, BNAPI_FORMAT_ND, dims, many, data) == nullptr);
    CHECK(strstr(bnapiGetRecentErrMsg(), "storageDimsNum") != nullptr);
    CHECK_REFUSED(
        BNAPI_ERR_PARAM_INVALID,
        bnapiInitTensor(tensor, dims, many, BNAPI_FLOAT, nullptr, 0, BNAPI_FORMAT_ND, dims, 2, data),
        "viewDimsNum");
  }
  const std::vector<int64_t> ones(64, 1);
  for (const uint64_t rank : {9, 64}) {
    bnapiTensor* deep = bnapiCreateTensor(ones.data(), rank, BNAPI_FLOAT, nullptr, 0, BNAPI_FORMAT_ND,
                                          ones.data(), rank, data);
    CHECK(deep != nullptr);
    CHECK_OK(bnapiDestroyTensor(deep));
  }
  CHECK(bnapiCreateScalar(nullptr, BNAPI_FLOAT) == nullptr);
  CHECK(strstr(bnapiGetRecentErrMsg(), "value") != nullptr);
  int64_t* out = nullptr;
  uint64_t count = 0;
  void* address = nullptr;
  CHECK_REFUSED(null, bnapiGetViewShape(nullptr, &out, &count), "tensor");
  CHECK_REFUSED(null, bnapiGetViewShape(tensor, nullptr, &count), "null");
  CHECK_REFUSED(null, bnapiGetViewShape(tensor, &out, nullptr), "count");
  CHECK_REFUSED(null, bnapiGetViewStrides(tensor, &out, nullptr), "count");
  CHECK_REFUSED(null, bnapiGetStorageShape(tensor, nullptr, &count), "null");
  CHECK_REFUSED(null, bnapiGetViewOffset(tensor, nullptr), "null");
  CHECK_REFUSED(null, bnapiGetFormat(tensor, nullptr), "null");
  CHECK_REFUSED(null, bnapiGetDataType(tensor, nullptr), "null");
  CHECK_REFUSED(null, bnapiGetRawTensorAddr(tensor, nullptr), "null");
  CHECK_REFUSED(null, bnapiGetRawTensorAddr(nullptr, &address), "tensor");
  CHECK_REFUSED(null, bnapiSetRawTensorAddr(nullptr, address), "tensor");
  CHECK_REFUSED(null,
                bnapiInitTensor(nullptr, dims, 2, BNAPI_FLOAT, nullptr, 0, BNAPI_FORMAT_ND, dims, 2, data),
                "tensor");
  CHECK_OK(bnapiDestroyTensor(nullptr));
  CHECK_OK(bnapiDestroyScalar(nullptr));
  CHECK_OK(bnapiDestroyBoolArray(nullptr));
  bnapiReleaseDims(nullptr);
  CHECK_OK(bnapiDestroyTensor(tensor));
  bnapiBoolArray* empty = bnapiCreateBoolArray(nullptr, 5);
  CHECK(empty != nullptr);
  CHECK_REFUSED(null, bnapiGetBoolArraySize(empty, nullptr), "null");
  CHECK_REFUSED(null, bnapiGetBoolArraySize(nullptr, &count), "array");
  CHECK_OK(bnapiDestroyBoolArray(empty));
}

void test_bool_arrays() {
  const bool one = true;
  for (const uint64_t many : {(uint64_t{1} << 20) + 1, uint64_t{1} << 40, UINT64_MAX}) {
    CHECK(bnapiCreateBoolArray(&one, many) == nullptr);
    CHECK(strstr(bnapiGetRecentErrMsg(), "size") != nullptr);
  }
  const std::unique_ptr<bool[]> many(new bool[1 << 20]());
  bnapiBoolArray* large = bnapiCreateBoolArray(many.get(), 1 << 20);
  CHECK(large != nullptr);
  CHECK_REFUSED(kInvalid, bnapiGetBoolArrayValues(large, many.get(), (1 << 20) - 1), "size");
  CHECK_OK(bnapiDestroyBoolArray(large));
  // Bytes of a C program that are neither 0 nor 1.
  const unsigned char bytes[4] = {0, 1, 2, 255};
  bool values[4] = {};
  bnapiBoolArray* array = bnapiCreateBoolArray(reinterpret_cast<const bool*>(bytes), 4);
  CHECK_OK(bnapiGetBoolArrayValues(array, values, 4));
  CHECK(!values[0] && values[1] && values[2] && values[3]);
  CHECK_OK(bnapiDestroyBoolArray(array));
}

// A value that is no live handle, in every function that takes one.
void refuse_everywhere(uint64_t bits) {
  const auto stream = as_handle<bnapiStream>(bits);
  const auto event = as_handle<bnapiEvent>(bits);
  const auto tensor = as_handle<bnapiTensor*>(bits);
  const auto scalar = as_handle<bnapiScalar*>(bits);
  const auto array = as_handle<bnapiBoolArray*>(bits);
  const auto executor = as_handle<bnapiOpExecutor*>(bits);
  const bnapiStatus handle = BNAPI_ERR_RT_INVALID_HANDLE;
  bool complete = false;
  int32_t device = 0;
  float ms = 0;
  char memory[64] = {};
  void* address = nullptr;
  int64_t* dims = nullptr;
  int64_t offset = 0;
  uint64_t count = 0;
  bnapiDataType type;
  bnapiFormat format;
  CHECK_REFUSED(handle, bnapiSynchronizeStream(stream), "stream");
  CHECK_REFUSED(handle, bnapiSynchronizeStreamWithTimeout(stream, 0), "stream");
  CHECK_REFUSED(handle, bnapiStreamQuery(stream, &complete), "stream");
  CHECK_REFUSED(handle, bnapiStreamGetDevice(stream, &device), "stream");
  CHECK_REFUSED(handle, bnapiStreamGetNative(stream, &address), "stream");
  CHECK_REFUSED(handle, bnapiDestroyStream(stream), "stream");
  CHECK_REFUSED(handle, bnapiMemcpyAsync(memory, 32, memory + 32, 32, BNAPI_MEMCPY_DEFAULT, stream),
                "stream");
  CHECK_REFUSED(handle, bnapiMemsetAsync(memory, 32, 0, 32, stream), "stream");
  CHECK_REFUSED(handle, bnapiStreamWaitEvent(nullptr, event), "event");
  CHECK_REFUSED(handle, bnapiRecordEvent(event, nullptr), "event");
  CHECK_REFUSED(handle, bnapiQueryEvent(event, &complete), "event");
  CHECK_REFUSED(handle, bnapiSynchronizeEvent(event), "event");
  CHECK_REFUSED(handle, bnapiEventElapsedTime(&ms, event, event), "event");
  CHECK_REFUSED(handle, bnapiDestroyEvent(event), "event");
  CHECK_REFUSED(kInvalid, bnapiDestroyTensor(tensor), "tensor");
  CHECK_REFUSED(kInvalid, bnapiGetViewShape(tensor, &dims, &count), "tensor");
  CHECK_REFUSED(kInvalid, bnapiGetViewStrides(tensor, &dims, &count), "tensor");
  CHECK_REFUSED(kInvalid, bnapiGetStorageShape(tensor, &dims, &count), "tensor");
  CHECK_REFUSED(kInvalid, bnapiGetViewOffset(tensor, &offset), "tensor");
  CHECK_REFUSED(kInvalid, bnapiGetDataType(tensor, &type), "tensor");
  CHECK_REFUSED(kInvalid, bnapiGetFormat(tensor, &format), "tensor");
  CHECK_REFUSED(kInvalid, bnapiGetRawTensorAddr(tensor, &address), "tensor");
  CHECK_REFUSED(kInvalid, bnapiSetRawTensorAddr(tensor, memory), "tensor");
  CHECK_REFUSED(kInvalid, bnapiDestroyScalar(scalar), "scalar");
  CHECK_REFUSED(kInvalid, bnapiGetScalarDataType(scalar, &type), "scalar");
  CHECK_REFUSED(kInvalid, bnapiGetScalarValue(scalar, memory), "scalar");
  CHECK_REFUSED(kInvalid, bnapiDestroyBoolArray(array), "array");
  CHECK_REFUSED(kInvalid, bnapiGetBoolArraySize(array, &count), "array");
  const auto refused = [](bnapiStatus status) {
    return (status == BNAPI_ERR_INNER || status == BNAPI_ERR_INNER_NULLPTR) &&
           strstr(bnapiGetRecentErrMsg(), "executor") != nullptr;
  };
  CHECK(refused(bnapiBatchNormReduceBackward(nullptr, 0, executor, nullptr)));
  CHECK(refused(bnapiSetOpExecutorRepeatable(executor)));
  CHECK(refused(bnapiSetTensorAddr(executor, 0, tensor, memory)));
  CHECK(refused(bnapiSetTensorAddrs(executor, &address, 1)));
  CHECK(refused(bnapiDestroyOpExecutor(executor)));
}

void test_made_up_handles() {
  // Addresses, small numbers, all ones, and values that differ from live handles in one bit of a kind.
  auto heap = std::make_unique<uint64_t[]>(64);
  int on_stack = 0;
  refuse_everywhere(reinterpret_cast<uint64_t>(heap.get()));
  refuse_everywhere(reinterpret_cast<uint64_t>(&on_stack));
  for (const uint64_t bits : {uint64_t{1}, uint64_t{2}, uint64_t{4096}, ~uint64_t{0}, uint64_t{1} << 63})
    refuse_everywhere(bits);
  std::mt19937_64 random(20240607);
  for (int i = 0; i < 300; ++i)
    refuse_everywhere(random());
  // The kinds' own prefixes, with generations and slots that are not in use.
  for (uint64_t kind = 0xA0; kind <= 0xA9; ++kind) {
    for (int i = 0; i < 30; ++i)
      refuse_everywhere(kind << 56 | (random() | uint64_t{1} << 55) >> 8);
  }
}

void test_destroyed_twice() {
  const int64_t dims[1] = {1};
  int32_t value = 5;
  const bool flag = true;
  float data = 0;
  bnapiStream stream = nullptr;
  bnapiEvent event = nullptr;
  ReduceBackward call(2, 3, 4);
  uint64_t size = 0;
  bnapiOpExecutor* executor = nullptr;
  for (int round = 0; round < 3; ++round) {
    bnapiTensor* tensor =
        bnapiCreateTensor(dims, 1, BNAPI_FLOAT, nullptr, 0, BNAPI_FORMAT_ND, dims, 1, &data);
    bnapiScalar* scalar = bnapiCreateScalar(&value, BNAPI_INT32);
    bnapiBoolArray* array = bnapiCreateBoolArray(&flag, 1);
    CHECK_OK(bnapiCreateStream(&stream));
    CHECK_OK(bnapiCreateEvent(&event));
    CHECK_OK(call.plan(&size, &executor));
    CHECK_OK(bnapiDestroyTensor(tensor));
    CHECK_OK(bnapiDestroyScalar(scalar));
    CHECK_OK(bnapiDestroyBoolArray(array));
    CHECK_OK(bnapiDestroyStream(stream));
    CHECK_OK(bnapiDestroyEvent(event));
    CHECK_OK(bnapiDestroyOpExecutor(executor));
    // The slots are used again; the dead handles stay dead.
    bnapiTensor* again = bnapiCreateTensor(dims, 1, BNAPI_FLOAT, nullptr, 0, BNAPI_FORMAT_ND, dims, 1, &data);
    for (const uint64_t bits : {reinterpret_cast<uint64_t>(tensor), reinterpret_cast<uint64_t>(scalar),
                                reinterpret_cast<uint64_t>(array), reinterpret_cast<uint64_t>(stream),
                                reinterpret_cast<uint64_t>(event), reinterpret_cast<uint64_t>(executor)}) {
      refuse_everywhere(bits);
    }
    CHECK_STATUS(BNAPI_ERR_INNER_NULLPTR, bnapiDestroyOpExecutor(executor));
    CHECK_OK(bnapiDestroyTensor(again));
  }
}

void test_executors() {
  ReduceBackward call(2, 3, 8);
  uint64_t size = 0;
  bnapiOpExecutor* executor = nullptr;
  const auto plan = [&] { CHECK_OK(call.plan(&size, &executor)); };
  plan();
  Workspace workspace(size + 128);
  CHECK_REFUSED(BNAPI_ERR_PARAM_NULLPTR, bnapiBatchNormReduceBackward(nullptr, 0, nullptr, nullptr),
                "executor");
  CHECK_OK(bnapiBatchNormReduceBackward(workspace.memory, size, executor, nullptr));
  CHECK_REFUSED(BNAPI_ERR_INNER_NULLPTR,
                bnapiBatchNormReduceBackward(workspace.memory, size, executor, nullptr), "executor", "spent");
  plan();
  CHECK_REFUSED(kInvalid, bnapiBatchNormReduce(workspace.memory, size, executor, nullptr), "executor",
                "BatchNormReduceBackward");
  plan();
  CHECK_REFUSED(BNAPI_ERR_PARAM_NULLPTR, bnapiBatchNormReduceBackward(nullptr, 64, executor, nullptr),
                "workspace");
  CHECK_STATUS(BNAPI_ERR_INNER_NULLPTR, bnapiDestroyOpExecutor(executor));  // freed by the failure
  if (size > 0) {
    plan();
    CHECK_REFUSED(kInvalid, bnapiBatchNormReduceBackward(workspace.memory, size - 1, executor, nullptr),
                  "workspaceSize");
    plan();
    CHECK_REFUSED(
        kInvalid,
        bnapiBatchNormReduceBackward(static_cast<char*>(workspace.memory) + 8, size, executor, nullptr),
        "workspace", "aligned");
  }
  plan();
  bnapiStream dead = nullptr;
  CHECK_OK(bnapiCreateStream(&dead));
  CHECK_OK(bnapiDestroyStream(dead));
  CHECK_REFUSED(BNAPI_ERR_RUNTIME_ERROR, bnapiBatchNormReduceBackward(workspace.memory, size, executor, dead),
                "stream");

  // Tensors destroyed between the phases, and a repeatable executor that is aimed elsewhere.
  plan();
  bnapiTensor* dy = call.inputs[0];
  CHECK_OK(bnapiSetOpExecutorRepeatable(executor));
  CHECK_REFUSED(kInvalid, bnapiSetInputTensorAddr(executor, 5, dy, nullptr), "index", "5");
  CHECK_REFUSED(kInvalid, bnapiSetOutputTensorAddr(executor, 4, dy, nullptr), "index", "4");
  CHECK_REFUSED(kInvalid, bnapiSetTensorAddr(executor, 9, dy, nullptr), "index", "9");
  CHECK_REFUSED(kInvalid, bnapiSetTensorAddr(executor, 4, dy, nullptr), "index", "absent");
  CHECK_REFUSED(kInvalid, bnapiSetTensorAddr(executor, 1, dy, nullptr), "tensor");
  CHECK_REFUSED(BNAPI_ERR_INNER_NULLPTR, bnapiSetTensorAddr(executor, 0, nullptr, nullptr), "tensor");
  CHECK_REFUSED(BNAPI_ERR_INNER_NULLPTR, bnapiSetTensorAddr(nullptr, 0, dy, nullptr), "executor");
  CHECK_REFUSED(BNAPI_ERR_INNER_NULLPTR, bnapiSetOpExecutorRepeatable(nullptr), "executor");
  CHECK_REFUSED(BNAPI_ERR_INNER_NULLPTR, bnapiDestroyOpExecutor(nullptr), "executor");
  CHECK_REFUSED(BNAPI_ERR_PARAM_NULLPTR, bnapiSetTensorAddrs(executor, nullptr, 1), "addrs");
  std::vector<void*> many(10, nullptr);
  CHECK_REFUSED(kInvalid, bnapiSetTensorAddrs(executor, many.data(), many.size()), "count", "10");
  CHECK_OK(bnapiSetTensorAddr(executor, 0, dy, nullptr));
  CHECK_REFUSED(BNAPI_ERR_PARAM_NULLPTR,
                bnapiBatchNormReduceBackward(workspace.memory, size, executor, nullptr), "input 0");
  CHECK_OK(bnapiSetTensorAddr(executor, 0, dy, reinterpret_cast<char*>(call.dy.data()) + 1));
  CHECK_REFUSED(kInvalid, bnapiBatchNormReduceBackward(workspace.memory, size, executor, nullptr), "input 0",
                "aligned");
  CHECK_OK(bnapiSetTensorAddr(executor, 0, dy, call.dy.data()));
  call.destroy();
  for (int i = 0; i < 3; ++i) {
    call.spoil();
    CHECK_OK(bnapiBatchNormReduceBackward(workspace.memory, size, executor, nullptr));
    CHECK_OK(bnapiSynchronizeStream(nullptr));
    CHECK(call.right());
  }
  CHECK_OK(bnapiDestroyOpExecutor(executor));

  // Null in phase one.
  call.create();
  CHECK_REFUSED(BNAPI_ERR_PARAM_NULLPTR, call.plan(nullptr, &executor), "workspaceSize");
  CHECK_REFUSED(BNAPI_ERR_PARAM_NULLPTR, call.plan(&size, nullptr), "executor");
  const char* names[4] = {"gradOut", "input", "mean", "invstd"};
  for (int i = 0; i < 4; ++i) {
    bnapiTensor* const kept = call.inputs[i];
    call.inputs[i] = nullptr;
    CHECK_REFUSED(BNAPI_ERR_PARAM_NULLPTR, call.plan(&size, &executor), names[i]);
    call.inputs[i] = as_handle<bnapiTensor*>(12345);
    CHECK_REFUSED(kInvalid, call.plan(&size, &executor), names[i], "not a live tensor");
    call.inputs[i] = kept;
  }
}

// Many threads use one executor up: exactly one run succeeds.
void test_executor_race() {
  ReduceBackward call(2, 3, 8);
  for (int round = 0; round < 200; ++round) {
    uint64_t size = 0;
    bnapiOpExecutor* executor = nullptr;
    CHECK_OK(call.plan(&size, &executor));
    Workspace workspace(size);
    std::atomic<int> successes{0};
    const auto use = [&](int kind) {
      const bnapiStatus status =
          kind == 0 ? bnapiDestroyOpExecutor(executor)
                    : bnapiBatchNormReduceBackward(workspace.memory, size, executor, nullptr);
      if (status == BNAPI_SUCCESS) {
        successes += kind == 0 ? 0 : 1;
      } else {
        CHECK(status == BNAPI_ERR_INNER_NULLPTR);
      }
    };
    std::thread first(use, 1), second(use, 1), third(use, round % 2);
    first.join();
    second.join();
    third.join();
    CHECK(successes <= 1);
    CHECK_OK(bnapiSynchronizeStream(nullptr));
    CHECK_STATUS(BNAPI_ERR_INNER_NULLPTR, bnapiDestroyOpExecutor(executor));
  }
}

void test_timeouts() {
  bnapiEvent event = nullptr;
  CHECK_OK(bnapiCreateEvent(&event));
  CHECK_REFUSED(BNAPI_ERR_RT_PARAM_INVALID, bnapiSynchronizeStreamWithTimeout(nullptr, -2), "timeout_ms",
                "-2");
  CHECK_REFUSED(BNAPI_ERR_RT_PARAM_INVALID, bnapiSynchronizeEventWithTimeout(event, -2), "timeout_ms", "-2");
  CHECK_OK(bnapiSynchronizeStreamWithTimeout(nullptr, 0));
  CHECK_OK(bnapiSynchronizeEventWithTimeout(event, -1));
  CHECK_OK(bnapiDestroyEvent(event));
}

void test_start_and_end() {
  CHECK_REFUSED(BNAPI_ERR_INVALID_FILE, bnapiInit("/nowhere/to/be/found.json"), "found.json");
  CHECK_REFUSED(BNAPI_ERR_INVALID_FILE, bnapiInit("/"), "/");
  CHECK_OK(bnapiInit(nullptr));
  CHECK_REFUSED(BNAPI_ERR_REPEAT_INITIALIZE, bnapiInit(nullptr), "already");
  // With live objects of every kind.
  ReduceBackward call(2, 3, 8);
  uint64_t size = 0;
  bnapiOpExecutor* executor = nullptr;
  bnapiStream stream = nullptr;
  bnapiEvent event = nullptr;
  CHECK_OK(call.plan(&size, &executor));
  CHECK_OK(bnapiCreateStream(&stream));
  CHECK_OK(bnapiCreateEvent(&event));
  void* memory = nullptr;
  CHECK_OK(bnapiMalloc(&memory, 100));
  CHECK_OK(bnapiFinalize());
  CHECK_REFUSED(BNAPI_ERR_REPEAT_FINALIZE, bnapiFinalize(), "already");
  for (const uint64_t bits :
       {reinterpret_cast<uint64_t>(executor), reinterpret_cast<uint64_t>(stream),
        reinterpret_cast<uint64_t>(event), reinterpret_cast<uint64_t>(call.inputs[0])}) {
    refuse_everywhere(bits);
  }
  memset(memory, 1, 100);  // memory stays
  CHECK_OK(bnapiFree(memory));
  CHECK_OK(bnapiInit(""));
  CHECK_OK(bnapiFinalize());
}

}  // namespace

int main() {
  CHECK(strcmp(bnapiGetRecentErrMsg(), "") == 0);
  CHECK(strstr(bnapiGetBuildInfo(), bnapiGetIsa()) != nullptr);
  CHECK(strcmp(bnapiStatusName(161002), "BNAPI_ERR_PARAM_INVALID") == 0);
  CHECK(strcmp(bnapiStatusName(1), "unknown status") == 0);
  test_null_in_runtime();
  test_memory();
  test_null_in_descriptors();
  test_bool_arrays();
  test_made_up_handles();
  test_destroyed_twice();
  test_executors();
  test_executor_race();
  test_timeouts();
  test_start_and_end();
  return check::result();
}
