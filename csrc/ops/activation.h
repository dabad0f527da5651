// The activation attribute of BatchNormAct and BatchNormActBackward.
#pragma once

#include <string>

#include "core/call.h"

namespace bn {

// Throws for a value that is no activation.
inline bool is_relu(const Call& call, int32_t activation) {
  if (activation == BNAPI_ACTIVATION_IDENTITY) return false;
  if (activation == BNAPI_ACTIVATION_RELU) return true;
  throw call.error(
      BNAPI_ERR_PARAM_INVALID, "activation",
      std::to_string(activation) + "; expected BNAPI_ACTIVATION_IDENTITY (0) or BNAPI_ACTIVATION_RELU (1)");
}

}  // namespace bn
