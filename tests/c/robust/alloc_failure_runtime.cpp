// Failing allocations in the functions of runtime.h, tensor.h and executor.h.

#include "alloc_failure.h"

namespace alloc_failure {
namespace {

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

void make_recorded_event(Fixture& f) {
  make_busy_event(f);
  CHECK_OK(bnapiRecordEvent(f.event, f.stream));
}

void drop_scalar(Fixture& f) {
  CHECK_OK(bnapiDestroyScalar(f.scalar));
}

void drop_array(Fixture& f) {
  CHECK_OK(bnapiDestroyBoolArray(f.array));
}

void drop_executor(Fixture& f) {
  CHECK_OK(bnapiDestroyOpExecutor(f.executor));
}

Case getter(const char* name, bnapiStatus (*call)(Fixture&)) {
  return {name, BNAPI_ERR_INNER, [](Fixture& f) { make_tensor(f, true); }, call, drop_tensor, drop_tensor};
}

}  // namespace

std::vector<Case> runtime_cases() {
  return {
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
      {"StreamWaitEvent", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_recorded_event,
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
      // What only reads: an allocation in it would be news.
      {"GetDeviceOrdinal", BNAPI_ERR_RT_MEMORY_ALLOCATION, nothing,
       [](Fixture&) {
         int32_t ordinal = -1;
         return bnapiGetDeviceOrdinal(0, &ordinal);
       },
       nothing, nothing},
      {"GetIsa and names", kNull, nothing,
       [](Fixture&) {
         int32_t major = -1;
         return *bnapiGetIsa() != '\0' && *bnapiStatusName(BNAPI_ERR_INNER) != '\0' &&
                        bnapiDataTypeSize(BNAPI_FLOAT) == 4 && bnapiGetNumThreads() > 0
                    ? bnapiGetVersion(&major, nullptr, nullptr)
                    : kNull;
       },
       nothing, nothing},
      {"StreamGetDevice", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_stream,
       [](Fixture& f) {
         int32_t device = -1;
         return bnapiStreamGetDevice(f.stream, &device);
       },
       drop_stream, drop_stream},
      {"StreamGetNative", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_stream,
       [](Fixture& f) {
         void* native = nullptr;
         return bnapiStreamGetNative(f.stream, &native);
       },
       drop_stream, drop_stream},
      {"SynchronizeStreamWithTimeout", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_busy_stream,
       [](Fixture& f) { return bnapiSynchronizeStreamWithTimeout(f.stream, 10000); }, drop_stream,
       drop_stream},
      {"SynchronizeEventWithTimeout", BNAPI_ERR_RT_MEMORY_ALLOCATION, make_recorded_event,
       [](Fixture& f) { return bnapiSynchronizeEventWithTimeout(f.event, 10000); }, drop_stream_and_event,
       drop_stream_and_event},
      {"EventElapsedTime", BNAPI_ERR_RT_MEMORY_ALLOCATION,
       [](Fixture& f) {
         make_recorded_event(f);
         CHECK_OK(bnapiSynchronizeEvent(f.event));
       },
       [](Fixture& f) {
         float elapsed = -1;
         return bnapiEventElapsedTime(&elapsed, f.event, f.event);
       },
       drop_stream_and_event, drop_stream_and_event},
      getter("GetViewStrides",
             [](Fixture& f) {
               uint64_t count = 0;
               const bnapiStatus status = bnapiGetViewStrides(f.tensor, &f.dims, &count);
               if (status == BNAPI_SUCCESS) bnapiReleaseDims(f.dims);
               return status;
             }),
      getter("GetStorageShape",
             [](Fixture& f) {
               uint64_t count = 0;
               const bnapiStatus status = bnapiGetStorageShape(f.tensor, &f.dims, &count);
               if (status == BNAPI_SUCCESS) bnapiReleaseDims(f.dims);
               return status;
             }),
      getter("GetViewOffset",
             [](Fixture& f) {
               int64_t offset = -1;
               return bnapiGetViewOffset(f.tensor, &offset);
             }),
      getter("GetFormat",
             [](Fixture& f) {
               bnapiFormat format;
               return bnapiGetFormat(f.tensor, &format);
             }),
      getter("GetRawTensorAddr",
             [](Fixture& f) {
               void* address = nullptr;
               return bnapiGetRawTensorAddr(f.tensor, &address);
             }),
      {"scalar getters", BNAPI_ERR_INNER,
       [](Fixture& f) {
         double value = 1.5;
         f.scalar = bnapiCreateScalar(&value, BNAPI_DOUBLE);
       },
       [](Fixture& f) {
         double value = 0;
         bnapiDataType type;
         const bnapiStatus status = bnapiGetScalarValue(f.scalar, &value);
         return status != BNAPI_SUCCESS ? status : bnapiGetScalarDataType(f.scalar, &type);
       },
       drop_scalar, drop_scalar},
      {"bool array getters", BNAPI_ERR_INNER,
       [](Fixture& f) {
         const bool values[3] = {true, false, true};
         f.array = bnapiCreateBoolArray(values, 3);
       },
       [](Fixture& f) {
         bool values[3];
         uint64_t size = 0;
         const bnapiStatus status = bnapiGetBoolArraySize(f.array, &size);
         return status != BNAPI_SUCCESS ? status : bnapiGetBoolArrayValues(f.array, values, 3);
       },
       drop_array, drop_array},
      {"SetInputTensorAddr", BNAPI_ERR_INNER, [](Fixture& f) { make_executor(f, f.small); },
       [](Fixture& f) {
         return bnapiSetInputTensorAddr(f.executor, 0, f.small.inputs[0], f.small.dy.data());
       },
       drop_executor, drop_executor},
      {"SetOutputTensorAddr", BNAPI_ERR_INNER, [](Fixture& f) { make_executor(f, f.small); },
       [](Fixture& f) {
         return bnapiSetOutputTensorAddr(f.executor, 0, f.small.outputs[0], f.small.out[0].data());
       },
       drop_executor, drop_executor},
      {"SetTensorAddrs", BNAPI_ERR_INNER, [](Fixture& f) { make_executor(f, f.small); },
       [](Fixture& f) {
         void* addresses[1] = {f.small.dy.data()};
         return bnapiSetTensorAddrs(f.executor, addresses, 1);
       },
       drop_executor, drop_executor},
      {"Finalize", BNAPI_ERR_RT_MEMORY_ALLOCATION,
       [](Fixture& f) {
         make_busy_event(f);
         make_executor(f, f.small);
         CHECK_OK(bnapiInit(nullptr));
       },
       [](Fixture&) { return bnapiFinalize(); }, tensors_anew, nothing},
  };
}

}  // namespace alloc_failure
