// Operators of the vendor's that are no batch normalization, and that a client demands before it loads
// anything: exported so that it can, and refused when they are called.

#include "aclnnop/aclnn_util.h"
#include "ascend/forward.h"

namespace {

int32_t refuse(const char* function) {
  return AscendCall(function).fail(BNAPI_ERR_PARAM_INVALID,
                                   "this library has the batch normalization operators only, not this one");
}

}  // namespace

// Their parameters do not matter, and a C caller may pass them to a function that takes none.
extern "C" {

ACLNN_API aclnnStatus aclnnAddGetWorkspaceSize() {
  return refuse(__func__);
}
ACLNN_API aclnnStatus aclnnAdd() {
  return refuse(__func__);
}
ACLNN_API aclnnStatus aclnnMulGetWorkspaceSize() {
  return refuse(__func__);
}
ACLNN_API aclnnStatus aclnnMul() {
  return refuse(__func__);
}
ACLNN_API aclnnStatus aclnnReluGetWorkspaceSize() {
  return refuse(__func__);
}
ACLNN_API aclnnStatus aclnnRelu() {
  return refuse(__func__);
}
ACLNN_API aclnnStatus aclnnReduceSumGetWorkspaceSize() {
  return refuse(__func__);
}
ACLNN_API aclnnStatus aclnnReduceSum() {
  return refuse(__func__);
}

}  // extern "C"
