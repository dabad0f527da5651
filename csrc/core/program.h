// A channel program: what every operator of the library is, as plain values.
//
// Data tensors are seen as [channel] x [loop dimensions]; the loop dimensions are the other axes, merged where
// every tensor of the program allows it and ordered outermost first. A program has up to three stages:
//
//     reduce    per channel, fold the data into a few accumulators
//     finalize  per channel, turn accumulators and parameters into outputs and coefficients
//     map       per element, out = f(data, the channel's coefficients)
//
// A program is trivially copyable: it is copied into queued work and passed to GPU kernels by value. It owns
// nothing; the addresses in it are filled in by bind() from the executor's slots just before it runs.
#pragma once

#include <type_traits>

#include "math/dtype.h"

namespace bn {

inline constexpr int kMaxRank = 8;
inline constexpr int kMaxLoopDims = kMaxRank - 1;
inline constexpr int kMaxSlots = 12;  // tensor parameters of one operator
inline constexpr int kMaxFills = 4;

enum class Reduce : int8_t {
  kNone,
  kMoments,   // mean and sum of squared deviations of x             math/moments.h
  kSums,      // sum(x) and sum(x^2)                                 math/sums.h
  kDyDotXmu,  // sum(dy) and sum(dy * (x - mean))                    math/dy_dot_xmu.h
};

enum class Finalize : int8_t {
  kNone,
  kStats,                  // BatchNormStats
  kSums,                   // BatchNormReduce
  kReduceBackward,         // BatchNormReduceBackward
  kTrain,                  // BatchNorm, BatchNormAct in training
  kInference,              // BatchNorm, BatchNormAct in inference
  kElemt,                  // BatchNormElemt
  kBackwardTrain,          // BatchNormBackward and kin in training
  kBackwardInference,      // the same in inference
  kElemtBackward,          // BatchNormElemtBackward
  kGatherStatsWithCounts,  // BatchNormGatherStatsWithCounts
  kSyncGatherStats,        // SyncBatchNormGatherStats
  kQuantized,              // QuantizedBatchNorm
};

enum class Map : int8_t {
  kNone,
  kNormalize,  // out = (x - mean) * scale + shift [+ extra] [relu]
  kBackward,   // out = (dy - offset - (x - mean) * slope) * scale
  kScale,      // out = dy * scale
  kQuantize,   // out = requantized normalize(dequantized x)
};

// One data tensor. Element (c, i0, i1, ...) is at
//     data + (c * channel_stride + i0 * strides[0] + i1 * strides[1] + ...) * dtype_size(dtype).
struct DataArg {
  void* data = nullptr;
  int64_t offset = 0;  // elements, from the slot's address to element 0
  int64_t channel_stride = 0;
  int64_t strides[kMaxLoopDims] = {};
  DType dtype = DType::kUndefined;
  int32_t slot = -1;  // -1: the program has no such tensor
};

// One value per channel: element c is at data + c * stride * dtype_size(dtype).
struct ChannelArg {
  void* data = nullptr;
  int64_t offset = 0;
  int64_t stride = 0;
  DType dtype = DType::kUndefined;
  int32_t slot = -1;
};

// Any other tensor: per-rank statistics [K, C], counts, and outputs that are only filled.
struct TensorArg {
  void* data = nullptr;
  int64_t offset = 0;
  int64_t extents[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};
  int32_t rank = 0;
  DType dtype = DType::kUndefined;
  int32_t slot = -1;
};

struct Fill {
  TensorArg tensor;
  double value = 0;
};

struct Program {
  Reduce reduce = Reduce::kNone;
  Finalize finalize = Finalize::kNone;
  Map map = Map::kNone;
  // Activation of BatchNormAct. Forward: out = max(out, 0). Backward: dy counts only where `extra` (the saved
  // output) is above 0, in the reduction and in the map.
  bool relu = false;

  int32_t loop_dims = 0;
  int64_t extents[kMaxLoopDims] = {};
  int64_t channels = 0;
  int64_t count = 0;  // elements per channel: the product of the extents

  // Data.
  DataArg x, dy;
  DataArg extra;          // forward: the residual that is added; backward with relu: the saved output
  DataArg out;            // y or dx
  DataArg grad_residual;  // backward: dy as masked by relu, written beside dx

  // Parameters per channel; an absent one has the contract's default (weight 1, bias 0, ...).
  ChannelArg weight, bias;
  ChannelArg mean, invstd;               // saved or given statistics
  ChannelArg running_mean, running_var;  // read, and in training updated in place
  ChannelArg sum_dy_in, sum_dy_xmu_in;   // of BatchNormElemtBackward
  // Outputs per channel; an absent one is not wanted.
  ChannelArg mean_out, invstd_out;
  ChannelArg sum, square_sum;
  ChannelArg sum_dy, sum_dy_xmu, grad_weight, grad_bias;

  // Per rank: mean and invstd, or sum and square sum, as [K, C]; counts as [K] or, for the counter of
  // BatchNormElemtBackward, of any shape.
  TensorArg rank_a, rank_b, counts;

  double eps = 0;
  double momentum = 0;
  // QuantizedBatchNorm.
  double input_scale = 1, output_scale = 1;
  int32_t input_zero_point = 0, output_zero_point = 0;

  // Outputs that get one value everywhere (empty inputs). A program with fills has no stages.
  Fill fills[kMaxFills];
  int32_t fill_count = 0;
};

static_assert(std::is_trivially_copyable<Program>::value,
              "programs are copied into queues and kernel arguments");

template <class Arg>
BN_INLINE bool present(const Arg& arg) {
  return arg.slot >= 0;
}

BN_INLINE double load(const ChannelArg& arg, int64_t channel, double otherwise = 0.0) {
  if (!present(arg)) return otherwise;
  return load_as_double(static_cast<const char*>(arg.data) + channel * arg.stride * dtype_size(arg.dtype),
                        arg.dtype);
}

// Writes one per-channel output with a single rounding; does nothing for an output that is not wanted.
BN_INLINE void store(const ChannelArg& arg, int64_t channel, double value) {
  if (!present(arg)) return;
  store_from_double(static_cast<char*>(arg.data) + channel * arg.stride * dtype_size(arg.dtype), arg.dtype,
                    value);
}

// Element (row, column) of a [K, C] tensor, or element `row` of a [K] one.
BN_INLINE double load(const TensorArg& arg, int64_t row, int64_t column) {
  const int64_t index = row * arg.strides[0] + (arg.rank > 1 ? column * arg.strides[1] : 0);
  return load_as_double(static_cast<const char*>(arg.data) + index * dtype_size(arg.dtype), arg.dtype);
}

}  // namespace bn
