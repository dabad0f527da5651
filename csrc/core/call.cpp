#include "core/call.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "api/guard.h"
#include "core/runtime.h"

namespace bn {

const char* op_name(Op op) {
  switch (op) {
    case Op::kBatchNorm:
      return "BatchNorm";
    case Op::kBatchNormBackward:
      return "BatchNormBackward";
    case Op::kFastBatchNormBackward:
      return "FastBatchNormBackward";
    case Op::kBatchNormStats:
      return "BatchNormStats";
    case Op::kBatchNormElemt:
      return "BatchNormElemt";
    case Op::kBatchNormGatherStatsWithCounts:
      return "BatchNormGatherStatsWithCounts";
    case Op::kBatchNormReduceBackward:
      return "BatchNormReduceBackward";
    case Op::kBatchNormElemtBackward:
      return "BatchNormElemtBackward";
    case Op::kSyncBatchNormGatherStats:
      return "SyncBatchNormGatherStats";
    case Op::kBatchNormReduce:
      return "BatchNormReduce";
    case Op::kQuantizedBatchNorm:
      return "QuantizedBatchNorm";
    case Op::kBatchNormAct:
      return "BatchNormAct";
    case Op::kBatchNormActBackward:
      return "BatchNormActBackward";
  }
  return "?";
}

namespace {

std::string full_name(Op op, bool ascend) {
  return std::string(ascend ? "aclnn" : "bnapi") + op_name(op);
}

}  // namespace

bool verbose() {
  static const bool on = [] {
    const char* value = getenv("BNAPI_VERBOSE");
    return value != nullptr && *value != '\0' && *value != '0';
  }();
  return on;
}

Error Call::error(bnapiStatus status, const char* parameter, const std::string& text) const {
  return Error(status, full_name(op_, ascend_) + ": " + parameter + ": " + text);
}

Param Call::add(const char* name, const bnapiTensor* handle) {
  Param param;
  param.name = name;
  param.slot = slots_++;
  if (handle == nullptr) return param;
  const uint64_t bits = handle_bits(handle);
  param.tensor = Runtime::get().tensors.find(bits);
  if (param.tensor == nullptr) {
    throw error(BNAPI_ERR_PARAM_INVALID, name, "not a live tensor handle (destroyed, or never one)");
  }
  handles_[param.slot] = bits;
  addresses_[param.slot] = param.tensor->data;
  return param;
}

Param Call::input(const char* name, const bnapiTensor* handle) {
  Param param = add(name, handle);
  inputs_ = slots_;
  return param;
}

Param Call::output(const char* name, const bnapiTensor* handle, bool asked) {
  return add(name, asked ? handle : nullptr);
}

std::shared_ptr<const Scalar> Call::scalar(const char* name, const bnapiScalar* handle) {
  if (handle == nullptr) return nullptr;
  std::shared_ptr<const Scalar> found = Runtime::get().scalars.find(handle_bits(handle));
  if (found == nullptr) {
    throw error(BNAPI_ERR_PARAM_INVALID, name, "not a live scalar handle (destroyed, or never one)");
  }
  return found;
}

std::shared_ptr<const BoolArray> Call::bool_array(const char* name, const bnapiBoolArray* handle) {
  if (handle == nullptr) return nullptr;
  std::shared_ptr<const BoolArray> found = Runtime::get().bool_arrays.find(handle_bits(handle));
  if (found == nullptr) {
    throw error(BNAPI_ERR_PARAM_INVALID, name, "not a live bool array handle (destroyed, or never one)");
  }
  return found;
}

// ---- phase one
// -----------------------------------------------------------------------------------------------

bnapiStatus phase_one(Op op, uint64_t* workspace_size, bnapiOpExecutor** executor, PlanFunction plan) {
  return guard(BNAPI_ERR_INNER_CREATE_EXECUTOR, [&] {
    const bool ascend = thread_state().ascend_depth > 0;
    Call call(op, ascend);
    if (workspace_size == nullptr) {
      throw call.error(BNAPI_ERR_PARAM_NULLPTR, "workspaceSize", "null; expected a place for the size");
    }
    if (executor == nullptr) {
      throw call.error(BNAPI_ERR_PARAM_NULLPTR, "executor", "null; expected a place for the executor");
    }
    Runtime& runtime = Runtime::get();
    auto created = std::make_shared<Executor>();
    created->program = plan(call);
    created->op = op;
    created->ascend = ascend;
    created->device = runtime.current_device();
    created->inputs = call.inputs();
    created->slots = call.slots();
    for (int slot = 0; slot < call.slots(); ++slot) {
      created->handles[slot] = call.handle(slot);
      created->addresses[slot] = call.address(slot);
    }
    const DeviceInfo& device = runtime.device(created->device);
    created->plan = device.backend->plan(device.ordinal, created->program);
    const uint64_t size = created->plan->workspace_bytes;
    const uint64_t handle = runtime.executors.insert(std::move(created));
    *workspace_size = size;
    *executor = to_handle<bnapiOpExecutor*>(handle);
  });
}

// ---- phase two
// -----------------------------------------------------------------------------------------------

namespace {

constexpr uintptr_t kWorkspaceAlignment = 64;

const char* dtype_short(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return "f64";
    case DType::kFloat32:
      return "f32";
    case DType::kFloat16:
      return "f16";
    case DType::kBFloat16:
      return "bf16";
    case DType::kInt32:
      return "i32";
    case DType::kInt8:
      return "i8";
    case DType::kUInt8:
      return "u8";
    default:
      return "-";
  }
}

// One line for BNAPI_VERBOSE: operator, data type, [channels x loop extents], strides, path, device, time.
void print_call(const Executor& executor, const Program& p, double elapsed_ms) {
  const DataArg& data = present(p.x) ? p.x : p.dy;
  std::string shape = std::to_string(p.channels);
  std::string strides = std::to_string(data.channel_stride);
  for (int d = 0; d < p.loop_dims; ++d) {
    shape += "x" + std::to_string(p.extents[d]);
    strides += "," + std::to_string(data.strides[d]);
  }
  fprintf(stderr, "bn_api: %s %s channels x loops %s strides %s %s %s %.3f ms\n",
          full_name(executor.op, executor.ascend).c_str(), dtype_short(data.dtype), shape.c_str(),
          strides.c_str(), executor.plan->describe().c_str(),
          Runtime::get().device(executor.device).name.c_str(), elapsed_ms);
}

void launch(const Executor& executor, const Program& bound, void* workspace, Stream& stream) try {
  Backend& backend = *Runtime::get().device(executor.device).backend;
  if (!verbose()) {
    backend.launch(op_name(executor.op), executor.plan, bound, workspace, stream);
    return;
  }
  // Timing needs the work to be alone: calls are synchronous when they are watched.
  stream.synchronize(-1);
  const auto begin = std::chrono::steady_clock::now();
  backend.launch(op_name(executor.op), executor.plan, bound, workspace, stream);
  stream.synchronize(-1);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
  try {
    print_call(executor, bound, elapsed.count());
  } catch (const std::bad_alloc&) {
    // The work is done: the call does not fail for its line.
  }
} catch (const Error& error) {
  // Whatever the device said, operators report as a runtime error.
  throw Error(BNAPI_ERR_RUNTIME_ERROR, full_name(executor.op, executor.ascend) + ": " + error.what());
}

struct Claim {
  std::shared_ptr<Executor> executor;
  std::array<void*, kMaxSlots> addresses;  // at this moment
  bool repeatable = false;
};

// The executor for phase two. Unless it is repeatable it leaves the registry here: whatever happens next, and
// whoever else holds its handle, it runs once.
Claim claim(Op op, bnapiOpExecutor* handle) {
  Runtime& runtime = Runtime::get();
  const uint64_t bits = handle_bits(handle);
  Claim claim;
  std::shared_ptr<Executor>& executor = claim.executor;
  executor = runtime.executors.find(bits);
  if (executor != nullptr) {
    std::unique_lock<std::mutex> lock(executor->mutex);
    claim.addresses = executor->addresses;
    claim.repeatable = executor->repeatable;
    if (claim.repeatable) return claim;
    lock.unlock();
    executor = runtime.executors.take(bits);
  }
  if (executor == nullptr) {
    const std::string name = full_name(op, thread_state().ascend_depth > 0);
    if (runtime.executors.state(bits) == HandleState::kForeign) {
      throw Error(BNAPI_ERR_INNER, name + ": executor: not an executor");
    }
    throw Error(BNAPI_ERR_INNER_NULLPTR,
                name + ": executor: spent or destroyed; plan again for every run, or make it repeatable");
  }
  return claim;
}

}  // namespace

bnapiStatus phase_two(Op op, void* workspace, uint64_t workspace_size, bnapiOpExecutor* executor_handle,
                      bnapiStream stream_handle) {
  return guard(BNAPI_ERR_RUNTIME_ERROR, [&] {
    const auto name = [op] { return full_name(op, thread_state().ascend_depth > 0); };
    if (executor_handle == nullptr) throw Error(BNAPI_ERR_PARAM_NULLPTR, name() + ": executor: null");
    const Claim claimed = claim(op, executor_handle);
    const std::shared_ptr<Executor>& executor = claimed.executor;
    if (executor->op != op) {
      throw Error(BNAPI_ERR_PARAM_INVALID, name() + ": executor: planned by " +
                                               full_name(executor->op, executor->ascend) +
                                               "GetWorkspaceSize");
    }
    if (workspace_size > 0 && workspace == nullptr) {
      throw Error(BNAPI_ERR_PARAM_NULLPTR,
                  name() + ": workspace: null with workspaceSize " + std::to_string(workspace_size));
    }
    const uint64_t planned = executor->plan->workspace_bytes;
    if (workspace_size < planned) {
      throw Error(BNAPI_ERR_PARAM_INVALID, name() + ": workspaceSize: " + std::to_string(workspace_size) +
                                               "; expected at least " + std::to_string(planned));
    }
    if (planned > 0 && reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlignment != 0) {
      throw Error(BNAPI_ERR_PARAM_INVALID, name() + ": workspace: not aligned to 64 bytes");
    }
    Runtime& runtime = Runtime::get();
    std::shared_ptr<StreamObject> stream;
    if (stream_handle == nullptr) {
      // Through an acl name, a thread without a device has no default stream either.
      if (thread_state().ascend_depth > 0) runtime.current_device();
      stream = runtime.default_stream(executor->device);
    } else {
      stream = runtime.streams.find(handle_bits(stream_handle));
      if (stream == nullptr) {
        throw Error(BNAPI_ERR_RUNTIME_ERROR,
                    name() + ": stream: not a live stream (destroyed, or never one)");
      }
      if (stream->device != executor->device) {
        throw Error(BNAPI_ERR_RUNTIME_ERROR,
                    name() + ": stream: of device " + std::to_string(stream->device) +
                        "; the executor was planned on device " + std::to_string(executor->device));
      }
    }
    // Qualified: std::bind would be found by its arguments, and fit better.
    if (claimed.repeatable) {
      Program bound = executor->program;
      bn::bind(bound, claimed.addresses, *executor);
      launch(*executor, bound, workspace, *stream->stream);
    } else {
      // Nobody else will run it.
      bn::bind(executor->program, claimed.addresses, *executor);
      launch(*executor, executor->program, workspace, *stream->stream);
    }
  });
}

}  // namespace bn
