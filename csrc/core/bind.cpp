// Filling a planned program with addresses, just before it runs.

#include <initializer_list>

#include "core/executor.h"

namespace bn {
namespace {

const char* dtype_text(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return "DOUBLE";
    case DType::kFloat32:
      return "FLOAT";
    case DType::kInt32:
      return "INT32";
    case DType::kFloat16:
      return "FLOAT16";
    case DType::kBFloat16:
      return "BF16";
    default:
      return "8-bit";
  }
}

class Binder {
 public:
  Binder(const std::array<void*, kMaxSlots>& addresses, const Executor& executor)
      : addresses_(addresses), executor_(executor) {}

  template <class Arg>
  void bind(Arg& arg, bool has_elements) const {
    if (!present(arg)) return;
    char* base = static_cast<char*>(addresses_[arg.slot]);
    if (!has_elements) {
      arg.data = nullptr;
      return;
    }
    const int64_t size = dtype_size(arg.dtype);
    if (base == nullptr) fail(BNAPI_ERR_PARAM_NULLPTR, arg.slot, "the tensor has no data address");
    if (reinterpret_cast<uintptr_t>(base) % static_cast<uintptr_t>(size) != 0) {
      fail(BNAPI_ERR_PARAM_INVALID, arg.slot,
           std::string("the data address is not aligned to an element of ") + dtype_text(arg.dtype));
    }
    arg.data = base + arg.offset * size;
  }

 private:
  [[noreturn]] void fail(bnapiStatus status, int slot, const std::string& text) const {
    const bool output = slot >= executor_.inputs;
    throw Error(status, std::string(executor_.ascend ? "aclnn" : "bnapi") + op_name(executor_.op) + ": " +
                            (output ? "output " : "input ") +
                            std::to_string(output ? slot - executor_.inputs : slot) + ": " + text);
  }

  const std::array<void*, kMaxSlots>& addresses_;
  const Executor& executor_;
};

bool has_elements(const TensorArg& arg) {
  for (int d = 0; d < arg.rank; ++d) {
    if (arg.extents[d] == 0) return false;
  }
  return true;
}

}  // namespace

void bind(Program& p, const std::array<void*, kMaxSlots>& addresses, const Executor& executor) {
  const Binder binder(addresses, executor);
  const bool has_channels = p.channels > 0;
  const bool has_data = has_channels && p.count > 0;
  for (DataArg* arg : {&p.x, &p.dy, &p.extra, &p.out, &p.grad_residual})
    binder.bind(*arg, has_data);
  for (ChannelArg* arg : {&p.weight, &p.bias, &p.mean, &p.invstd, &p.running_mean, &p.running_var,
                          &p.sum_dy_in, &p.sum_dy_xmu_in, &p.mean_out, &p.invstd_out, &p.sum, &p.square_sum,
                          &p.sum_dy, &p.sum_dy_xmu, &p.grad_weight, &p.grad_bias}) {
    binder.bind(*arg, has_channels);
  }
  for (TensorArg* arg : {&p.rank_a, &p.rank_b, &p.counts})
    binder.bind(*arg, has_elements(*arg));
  for (int i = 0; i < p.fill_count; ++i)
    binder.bind(p.fills[i].tensor, has_elements(p.fills[i].tensor));
}

}  // namespace bn
