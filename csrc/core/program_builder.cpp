#include "core/program_builder.h"

#include <algorithm>

namespace bn {
namespace {

int64_t magnitude(int64_t x) {
  return x < 0 ? -x : x;
}

// The stride of an axis of extent 1 may be anything, also what overflows in an address: no program sees it.
int64_t stride_of(const Tensor& tensor, int axis) {
  return tensor.shape[axis] == 1 ? 1 : tensor.strides[axis];
}

// A single channel lies outside of the loops, as it does in a contiguous tensor.
int64_t channel_stride_of(const Tensor& tensor, int axis) {
  if (tensor.shape[axis] != 1) return tensor.strides[axis];
  int64_t reach = 1;
  for (int other = 0; other < tensor.rank(); ++other) {
    const int64_t steps = tensor.shape[other] - 1;
    if (steps > 0) reach += steps * magnitude(tensor.strides[other]);
  }
  return reach;
}

TensorArg tensor_arg(const Param& param) {
  TensorArg arg;
  arg.rank = param->rank();
  for (int d = 0; d < arg.rank; ++d) {
    arg.extents[d] = param->shape[d];
    arg.strides[d] = stride_of(*param, d);
  }
  arg.offset = param->offset;
  arg.dtype = static_cast<DType>(param->dtype);
  // A tensor without elements needs no memory: its extents are all there is to know.
  arg.slot = param->empty() ? -1 : param.slot;
  return arg;
}

}  // namespace

void ProgramBuilder::data(DataArg Program::* field, const Param& param) {
  if (!param) return;
  DataArg& arg = program_.*field;
  arg.offset = param->offset;
  arg.channel_stride = channel_stride_of(*param, axis_);
  arg.dtype = static_cast<DType>(param->dtype);
  arg.slot = param.slot;
  args_[data_count_] = &arg;
  tensors_[data_count_] = param.tensor.get();
  ++data_count_;
}

void ProgramBuilder::per_channel(ChannelArg Program::* field, const Param& param) {
  if (!param) return;
  ChannelArg& arg = program_.*field;
  arg.offset = param->offset;
  arg.stride = stride_of(*param, 0);
  arg.dtype = static_cast<DType>(param->dtype);
  arg.slot = param.slot;
}

void ProgramBuilder::tensor(TensorArg Program::* field, const Param& param) {
  if (param) program_.*field = tensor_arg(param);
}

Program ProgramBuilder::build() {
  if (data_count_ == 0) return program_;

  // The axes to loop over, outermost first: those with the larger steps, summed over the tensors.
  int axes[kMaxRank];
  int64_t steps[kMaxRank];
  int count = 0;
  for (int axis = 0; axis < shape_of_->rank(); ++axis) {
    if (axis == axis_ || shape_of_->shape[axis] == 1) continue;
    int64_t step = 0;
    for (int t = 0; t < data_count_; ++t)
      step += magnitude(tensors_[t]->strides[axis]);
    int at = count++;
    for (; at > 0 && steps[at - 1] < step; --at) {
      axes[at] = axes[at - 1];
      steps[at] = steps[at - 1];
    }
    axes[at] = axis;
    steps[at] = step;
  }

  int dims = 0;
  for (int i = 0; i < count; ++i) {
    const size_t axis = static_cast<size_t>(axes[i]);
    const int64_t extent = shape_of_->shape[axis];
    bool merge = dims > 0;
    for (int t = 0; merge && t < data_count_; ++t) {
      merge = args_[t]->strides[dims - 1] == tensors_[t]->strides[axis] * extent;
    }
    const int d = merge ? dims - 1 : dims++;
    program_.extents[d] = merge ? program_.extents[d] * extent : extent;
    for (int t = 0; t < data_count_; ++t) {
      args_[t]->strides[d] = tensors_[t]->strides[axis];
    }
    program_.count *= extent;
  }
  program_.loop_dims = dims;
  return program_;
}

FillProgram& FillProgram::fill(const Param& output, double value) {
  if (!output || output->empty()) return *this;
  Checker(call_).rank(0, kMaxRank, {output});
  Checker(call_).written_once({output});
  Fill& fill = program_.fills[program_.fill_count++];
  fill.tensor = tensor_arg(output);
  fill.value = value;
  return *this;
}

}  // namespace bn
