// What BatchNorm and BatchNormAct share: BatchNorm is BatchNormAct without a residual and an activation.
#pragma once

#include "core/call.h"

namespace bn {

struct ForwardArguments {
  Param input, weight, bias, running_mean, running_var, residual;
  bool training = false;
  double momentum = 0;
  double eps = 0;
  bool relu = false;
  Param output, save_mean, save_invstd;
};

Program plan_forward(const Call& call, const ForwardArguments& arguments);

}  // namespace bn
