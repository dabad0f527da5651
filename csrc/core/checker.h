// The rules of an operator's arguments, one call a rule. An operator states its rules in the order in which they
// are to be evaluated; the first that is broken throws, naming the parameter, what came and what is allowed:
//
//     check.required({grad_out, input, mean, invstd});
//     check.dtypes(kFloatTypes, {grad_out, input, mean, invstd});
//     check.per_channel(channels, {mean, invstd});
//
// A parameter that was not given satisfies every rule but required(). A rule that holds costs a few comparisons
// and no allocation.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

#include "core/call.h"

namespace bn {

using Params = std::initializer_list<std::reference_wrapper<const Param>>;

// Sets of element types and labels, as bits. Where a set of types has FLOAT, the neutral names accept DOUBLE too.
enum class DTypeSet : uint64_t {};
enum class LabelSet : uint64_t {};

constexpr uint64_t bits_of(std::initializer_list<int> values) {
  uint64_t bits = 0;
  for (const int value : values)
    bits |= uint64_t{1} << value;
  return bits;
}

inline constexpr DTypeSet kFloatTypes{bits_of({BNAPI_FLOAT, BNAPI_FLOAT16, BNAPI_BF16})};
inline constexpr DTypeSet kFloat32Only{bits_of({BNAPI_FLOAT})};
inline constexpr DTypeSet kInt32Only{bits_of({BNAPI_INT32})};
inline constexpr DTypeSet kFloatTypesOrInt32{bits_of({BNAPI_FLOAT, BNAPI_FLOAT16, BNAPI_BF16, BNAPI_INT32})};
inline constexpr DTypeSet kCounterTypes{bits_of({BNAPI_FLOAT, BNAPI_FLOAT16, BNAPI_INT32})};
inline constexpr DTypeSet kQuantizedTypes{bits_of({BNAPI_INT8, BNAPI_UINT8, BNAPI_INT32})};

inline constexpr LabelSet kChannelFirstLabels{
    bits_of({BNAPI_FORMAT_ND, BNAPI_FORMAT_NC, BNAPI_FORMAT_NCL, BNAPI_FORMAT_NCHW, BNAPI_FORMAT_NCDHW})};
// Every label but the private ones, unknown ones and BNAPI_FORMAT_UNDEFINED.
inline constexpr LabelSet kPublicLabels{static_cast<uint64_t>(kChannelFirstLabels) |
                                        bits_of({BNAPI_FORMAT_NHWC, BNAPI_FORMAT_NDHWC, BNAPI_FORMAT_HWCN})};

// The channels of a data tensor: its axis `axis`, which it must have.
struct Channels {
  Channels(const Param& of, int axis) : of(of), axis(axis), count(of->shape[axis]) {}

  const Param& of;
  int axis;
  int64_t count;
};

// The last axis under NHWC and NDHWC, else axis 1: for the operators that go by the label.
int channel_axis(const Param& data);

// May a parameter of this call have this type?
bool allows(const Call& call, DTypeSet set, int32_t dtype);

class Checker {
 public:
  // A broken rule has the status `invalid`, where the rule does not say otherwise.
  explicit Checker(const Call& call, bnapiStatus invalid = BNAPI_ERR_PARAM_INVALID)
      : call_(call), invalid_(invalid) {}

  // Broken: BNAPI_ERR_PARAM_NULLPTR.
  void required(Params params) const;
  // The mask has `length` entries. Broken, also by null: BNAPI_ERR_PARAM_NULLPTR.
  void mask(const char* name, const BoolArray* mask, size_t length) const;

  // Extents are not negative, and neither the number of elements nor an element's address overflows. Comes before
  // anything that computes with extents.
  void views(Params params) const;
  // No element is addressed twice, as must be in what is written. Comes after all other rules.
  void written_once(Params params) const;

  void dtypes(DTypeSet set, Params params) const;
  // These three are no rule where the reference was not given.
  void same_dtype(const Param& reference, Params params) const;
  void same_dtype_or_float32(const Param& reference, Params params) const;
  void same_label(const Param& reference, Params params) const;

  void labels(LabelSet set, Params params) const;
  // The labels of BatchNorm and BatchNormBackward, by rank: channel-first ones at any rank but 5, NHWC at rank 4;
  // NCDHW and NDHWC alone at rank 5.
  void batch_norm_labels(Params params) const;

  void rank(int low, int high, Params params) const;
  void same_shape(const Param& reference, Params params) const;
  void not_empty(Params params) const;
  void axis_not_empty(const Param& param, int axis) const;
  // Shape [C].
  void per_channel(const Channels& channels, Params params) const;
  // Extent `axis` of each is that of axis `reference_axis` of `reference`.
  void same_extent(const Param& reference, int reference_axis, int axis, Params params) const;

  // A scalar attribute, as a number. Null: BNAPI_ERR_PARAM_NULLPTR.
  void scalar_given(const char* name, const Scalar* scalar) const;
  double scalar(DTypeSet set, const char* name, const Scalar& scalar) const;

 private:
  const Call& call_;
  bnapiStatus invalid_;
};

}  // namespace bn
