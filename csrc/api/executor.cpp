// bn_api/executor.h: what can be done with an executor besides running it.

#include "bn_api/executor.h"

#include <string>

#include "api/guard.h"
#include "core/runtime.h"

namespace bn {
namespace {

[[noreturn]] void throw_not_alive(const char* function, uint64_t bits) {
  if (Runtime::get().executors.state(bits) == HandleState::kForeign) {
    throw Error(BNAPI_ERR_INNER, std::string(function) + ": executor: not an executor");
  }
  throw Error(BNAPI_ERR_INNER_NULLPTR, std::string(function) + ": executor: spent or destroyed");
}

std::shared_ptr<Executor> live_executor(const char* function, bnapiOpExecutor* handle) {
  if (handle == nullptr) throw Error(BNAPI_ERR_INNER_NULLPTR, std::string(function) + ": executor: null");
  std::shared_ptr<Executor> executor = Runtime::get().executors.find(handle_bits(handle));
  if (executor == nullptr) throw_not_alive(function, handle_bits(handle));
  return executor;
}

// Which of an executor's tensors an index counts.
enum class Range { kInputs, kOutputs, kAll };

bnapiStatus set_address(const char* function, Range range, bnapiOpExecutor* handle, size_t index,
                        bnapiTensor* tensor, void* addr) {
  return guard(BNAPI_ERR_INNER, [&] {
    const std::shared_ptr<Executor> executor = live_executor(function, handle);
    if (tensor == nullptr) throw Error(BNAPI_ERR_INNER_NULLPTR, std::string(function) + ": tensor: null");
    const size_t inputs = static_cast<size_t>(executor->inputs);
    const size_t slots = static_cast<size_t>(executor->slots);
    const size_t first = range == Range::kOutputs ? inputs : 0;
    const size_t count = range == Range::kInputs ? inputs : slots - first;
    if (index >= count) {
      throw Error(BNAPI_ERR_PARAM_INVALID, std::string(function) + ": index: " + std::to_string(index) +
                                               "; expected below " + std::to_string(count));
    }
    const size_t slot = first + index;
    if (executor->handles[slot] == 0) {
      throw Error(BNAPI_ERR_PARAM_INVALID,
                  std::string(function) + ": index: " + std::to_string(index) + " was absent when planned");
    }
    if (executor->handles[slot] != handle_bits(tensor)) {
      throw Error(BNAPI_ERR_PARAM_INVALID,
                  std::string(function) + ": tensor: not the one planned at index " + std::to_string(index));
    }
    std::lock_guard<std::mutex> lock(executor->mutex);
    executor->addresses[slot] = addr;
  });
}

}  // namespace
}  // namespace bn

using bn::Range;

extern "C" {

bnapiStatus bnapiSetOpExecutorRepeatable(bnapiOpExecutor* executor) {
  return bn::guard(BNAPI_ERR_INNER, [&] {
    const auto live = bn::live_executor("SetOpExecutorRepeatable", executor);
    std::lock_guard<std::mutex> lock(live->mutex);
    live->repeatable = true;
  });
}

bnapiStatus bnapiDestroyOpExecutor(bnapiOpExecutor* executor) {
  return bn::guard(BNAPI_ERR_INNER, [&] {
    bn::live_executor("DestroyOpExecutor", executor);
    // Null if another thread was faster: gone is gone.
    bn::Runtime::get().executors.take(bn::handle_bits(executor));
  });
}

bnapiStatus bnapiSetInputTensorAddr(bnapiOpExecutor* executor, size_t index, bnapiTensor* tensor,
                                    void* addr) {
  return bn::set_address("SetInputTensorAddr", Range::kInputs, executor, index, tensor, addr);
}

bnapiStatus bnapiSetOutputTensorAddr(bnapiOpExecutor* executor, size_t index, bnapiTensor* tensor,
                                     void* addr) {
  return bn::set_address("SetOutputTensorAddr", Range::kOutputs, executor, index, tensor, addr);
}

bnapiStatus bnapiSetTensorAddr(bnapiOpExecutor* executor, size_t index, bnapiTensor* tensor, void* addr) {
  return bn::set_address("SetTensorAddr", Range::kAll, executor, index, tensor, addr);
}

bnapiStatus bnapiSetTensorAddrs(bnapiOpExecutor* executor, void* const* addrs, size_t count) {
  return bn::guard(BNAPI_ERR_INNER, [&] {
    const auto live = bn::live_executor("SetTensorAddrs", executor);
    if (addrs == nullptr && count > 0)
      throw bn::Error(BNAPI_ERR_PARAM_NULLPTR, "SetTensorAddrs: addrs: null");
    if (count > static_cast<size_t>(live->slots)) {
      throw bn::Error(BNAPI_ERR_PARAM_INVALID, "SetTensorAddrs: count: " + std::to_string(count) +
                                                   "; expected at most " + std::to_string(live->slots));
    }
    for (size_t slot = 0; slot < count; ++slot) {
      if (addrs[slot] != nullptr && live->handles[slot] == 0) {
        throw bn::Error(BNAPI_ERR_PARAM_INVALID,
                        "SetTensorAddrs: addrs: entry " + std::to_string(slot) + " was absent when planned");
      }
    }
    std::lock_guard<std::mutex> lock(live->mutex);
    for (size_t slot = 0; slot < count; ++slot) {
      if (addrs[slot] != nullptr) live->addresses[slot] = addrs[slot];
    }
  });
}

}  // extern "C"
