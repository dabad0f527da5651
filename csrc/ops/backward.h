// What BatchNormBackward, FastBatchNormBackward and BatchNormActBackward share.
#pragma once

#include "core/call.h"

namespace bn {

struct BackwardArguments {
  Param grad_out, input, weight, running_mean, running_var, save_mean, save_invstd;
  bool training = false;
  double eps = 0;
  Param grad_input, grad_weight, grad_bias;

  // Of BatchNormActBackward.
  bool relu = false;
  Param output, grad_residual;
};

// Which outputs are asked for. A mask that is null or of another length asks for none; plan_backward refuses it.
class OutputMask {
 public:
  OutputMask(Call& call, const bnapiBoolArray* handle, size_t length)
      : array_(call.bool_array("outputMask", handle)), length_(length) {}

  bool operator[](size_t i) const {
    return array_ != nullptr && array_->values.size() == length_ && array_->values[i] != 0;
  }
  const BoolArray* array() const { return array_.get(); }
  size_t length() const { return length_; }

 private:
  std::shared_ptr<const BoolArray> array_;
  size_t length_;
};

enum class BackwardRules {
  kFull,  // types are tied to gradOut's and weight's; NHWC and NDHWC move the channel axis
  kFast,  // any float type; the channels are axis 1; a wrong shape of gradWeight or gradBias has a code of its own
};

Program plan_backward(const Call& call, const BackwardArguments& arguments, const OutputMask& mask,
                      BackwardRules rules);

}  // namespace bn
