// One call of an operator's phase one, as its op file sees it; and the two phases around it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "bn_api/types.h"
#include "core/program.h"
#include "core/status.h"
#include "core/tensor.h"

namespace bn {

enum class Op : int32_t {
  kBatchNorm,
  kBatchNormBackward,
  kFastBatchNormBackward,
  kBatchNormStats,
  kBatchNormElemt,
  kBatchNormGatherStatsWithCounts,
  kBatchNormReduceBackward,
  kBatchNormElemtBackward,
  kSyncBatchNormGatherStats,
  kBatchNormReduce,
  kQuantizedBatchNorm,
  kBatchNormAct,
  kBatchNormActBackward,
};

// "BatchNormReduceBackward": without the bnapi or aclnn that the caller knows it by.
const char* op_name(Op op);

// A tensor parameter of a call. `tensor` is null where the caller passed NULL.
struct Param {
  const char* name = "";  // as in the C signature
  std::shared_ptr<const Tensor> tensor;
  int slot = -1;

  explicit operator bool() const { return tensor != nullptr; }
  const Tensor* operator->() const { return tensor.get(); }
  const Tensor& operator*() const { return *tensor; }
};

class Call {
 public:
  Call(Op op, bool ascend) : op_(op), ascend_(ascend) {}

  // Tensor parameters, registered in the order of the C signature: that order numbers the slots, inputs
  // first. NULL is an absent Param that still takes its slot. A handle that is not alive throws
  // BNAPI_ERR_PARAM_INVALID.
  Param input(const char* name, const bnapiTensor* handle);
  // An output that is not asked for is absent whatever the handle is, which is not even looked at.
  Param output(const char* name, const bnapiTensor* handle, bool asked = true);

  std::shared_ptr<const Scalar> scalar(const char* name, const bnapiScalar* handle);  // null for NULL
  std::shared_ptr<const BoolArray> bool_array(const char* name, const bnapiBoolArray* handle);

  Op op() const { return op_; }
  // Called through an aclnn name: float64 is refused, messages use the acl names.
  bool ascend() const { return ascend_; }

  // The exception for a broken rule: "<operator>: <parameter>: <what came; what is allowed>".
  Error error(bnapiStatus status, const char* parameter, const std::string& text) const;

  int inputs() const { return inputs_; }
  int slots() const { return slots_; }
  uint64_t handle(int slot) const { return handles_[slot]; }
  void* address(int slot) const { return addresses_[slot]; }

 private:
  Param add(const char* name, const bnapiTensor* handle);

  Op op_;
  bool ascend_;
  int inputs_ = 0;
  int slots_ = 0;
  std::array<uint64_t, kMaxSlots> handles_{};
  std::array<void*, kMaxSlots> addresses_{};
};

// A reference to a callable Program(Call&), for the length of a call. (std::function would allocate.)
class PlanFunction {
 public:
  template <class F>
  PlanFunction(F&& function)  // NOLINT: implicit, so that phase_one takes a lambda
      : object_(&function), invoke_([](void* object, Call& call) {
          return (*static_cast<std::remove_reference_t<F>*>(object))(call);
        }) {}
  Program operator()(Call& call) const { return invoke_(object_, call); }

 private:
  void* object_;
  Program (*invoke_)(void*, Call&);
};

// BNAPI_VERBOSE is set: every run prints a line.
bool verbose();

// Phase one: checks the out pointers, lets `plan` validate and build the program, has the current device's
// backend plan it, and hands out an executor. Exceptions become statuses.
bnapiStatus phase_one(Op op, uint64_t* workspace_size, bnapiOpExecutor** executor, PlanFunction plan);

// Phase two: runs the executor on the stream.
bnapiStatus phase_two(Op op, void* workspace, uint64_t workspace_size, bnapiOpExecutor* executor,
                      bnapiStream stream);

}  // namespace bn
