// What the forwarders share: the scope of a call, and the casts between the vendor's types and ours.
//
// A forwarder checks nothing and keeps nothing: it opens the scope, casts, calls one function of
// libbn_api.so and passes on the status. The libraries made of forwarders may therefore exist several times
// over in a process.
#pragma once

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "api/ascend_support.h"
#include "bn_api.h"

// One call through an acl or aclnn name.
class AscendCall {
 public:
  explicit AscendCall(const char* function) : function_(function) { bnapiAscendEnter(); }
  ~AscendCall() { bnapiAscendLeave(); }
  AscendCall(const AscendCall&) = delete;
  AscendCall& operator=(const AscendCall&) = delete;

  // The call's result; a failure becomes text for aclGetRecentErrMsg.
  int32_t done(int32_t status) const { return bnapiAscendReport(status, function_); }

  // The result of a function that returns an object, or null for failure.
  template <class Object>
  Object* made(void* object) const {
    if (object == nullptr) done(bnapiAscendFailure());
    return static_cast<Object*>(object);
  }

  int32_t fail(int32_t status, const char* text) const { return done(bnapiAscendFail(status, text)); }

  // Null is the default stream of the current context.
  bnapiStream stream(aclrtStream stream) const { return bnapiAscendStream(stream); }

 private:
  const char* function_;
};

// The answer of functions that this library does not have.
inline int32_t refused(int32_t status, const char* function) {
  return AscendCall(function).fail(status, "not supported by this library");
}

inline const bnapiTensor* neutral(const aclTensor* tensor) {
  return reinterpret_cast<const bnapiTensor*>(tensor);
}
inline bnapiTensor* neutral(aclTensor* tensor) {
  return reinterpret_cast<bnapiTensor*>(tensor);
}
inline const bnapiScalar* neutral(const aclScalar* scalar) {
  return reinterpret_cast<const bnapiScalar*>(scalar);
}
inline const bnapiBoolArray* neutral(const aclBoolArray* array) {
  return reinterpret_cast<const bnapiBoolArray*>(array);
}
inline bnapiOpExecutor* neutral(aclOpExecutor* executor) {
  return reinterpret_cast<bnapiOpExecutor*>(executor);
}
inline bnapiOpExecutor** neutral(aclOpExecutor** executor) {
  return reinterpret_cast<bnapiOpExecutor**>(executor);
}
inline bnapiDataType neutral(aclDataType type) {
  return static_cast<bnapiDataType>(type);
}
inline bnapiFormat neutral(aclFormat format) {
  return static_cast<bnapiFormat>(format);
}
