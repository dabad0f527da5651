#include "core/checker.h"

#include <string>

#include "core/overlap.h"

namespace bn {
namespace {

struct Name {
  int32_t value;
  const char* name;
};

constexpr Name kDTypeNames[] = {
    {-1, "UNDEFINED"},   {0, "FLOAT"},        {1, "FLOAT16"},        {2, "INT8"},         {3, "INT32"},
    {4, "UINT8"},        {6, "INT16"},        {7, "UINT16"},         {8, "UINT32"},       {9, "INT64"},
    {10, "UINT64"},      {11, "DOUBLE"},      {12, "BOOL"},          {13, "STRING"},      {16, "COMPLEX64"},
    {17, "COMPLEX128"},  {27, "BF16"},        {29, "INT4"},          {30, "UINT1"},       {33, "COMPLEX32"},
    {34, "HIFLOAT8"},    {35, "FLOAT8_E5M2"}, {36, "FLOAT8_E4M3FN"}, {37, "FLOAT8_E8M0"}, {38, "FLOAT6_E3M2"},
    {39, "FLOAT6_E2M3"}, {40, "FLOAT4_E2M1"}, {41, "FLOAT4_E1M2"},
};

constexpr Name kFormatNames[] = {
    {-1, "UNDEFINED"},
    {0, "NCHW"},
    {1, "NHWC"},
    {2, "ND"},
    {3, "NC1HWC0"},
    {4, "FRACTAL_Z"},
    {12, "NC1HWC0_C04"},
    {16, "HWCN"},
    {27, "NDHWC"},
    {29, "FRACTAL_NZ"},
    {30, "NCDHW"},
    {32, "NDC1HWC0"},
    {33, "FRACTAL_Z_3D"},
    {35, "NC"},
    {47, "NCL"},
    {50, "FRACTAL_NZ_C0_16"},
    {51, "FRACTAL_NZ_C0_32"},
    {52, "FRACTAL_NZ_C0_2"},
    {53, "FRACTAL_NZ_C0_4"},
    {54, "FRACTAL_NZ_C0_8"},
};

template <size_t kCount>
std::string name_of(const Name (&names)[kCount], int32_t value) {
  for (const Name& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return "code " + std::to_string(value);
}

std::string dtype_name(int32_t dtype) {
  return name_of(kDTypeNames, dtype);
}
std::string format_name(int32_t format) {
  return name_of(kFormatNames, format);
}

std::string join(const std::string& list, const std::string& item) {
  return list.empty() ? item : list + ", " + item;
}

template <size_t kCount>
std::string names_in(const Name (&names)[kCount], uint64_t bits) {
  std::string list;
  for (const Name& entry : names) {
    if (entry.value >= 0 && (bits >> entry.value & 1) != 0) list = join(list, entry.name);
  }
  return list;
}

std::string shape_text(const Tensor& tensor) {
  std::string list;
  for (const int64_t extent : tensor.shape)
    list = join(list, std::to_string(extent));
  return "[" + list + "]";
}

constexpr bool contains(uint64_t bits, int32_t value) {
  return value >= 0 && value < 64 && (bits >> value & 1) != 0;
}

uint64_t allowed_bits(const Call& call, DTypeSet set) {
  uint64_t bits = static_cast<uint64_t>(set);
  if (!call.ascend() && contains(bits, BNAPI_FLOAT)) bits |= bits_of({BNAPI_DOUBLE});
  return bits;
}

LabelSet batch_norm_labels_of_rank(int rank) {
  if (rank == 4) return LabelSet{bits_of({BNAPI_FORMAT_ND, BNAPI_FORMAT_NCHW, BNAPI_FORMAT_NHWC})};
  if (rank == 5) return LabelSet{bits_of({BNAPI_FORMAT_NCDHW, BNAPI_FORMAT_NDHWC})};
  return kChannelFirstLabels;
}

// The largest distance between two elements plus the offset; false if it, or the number of elements, is more than
// byte addresses of 16-byte elements could span.
bool spans_memory(const Tensor& tensor) {
  constexpr int64_t kLimit = INT64_MAX / 16;
  int64_t elements = 1;
  int64_t span = 0;
  if (__builtin_add_overflow(span, tensor.offset, &span) || span > kLimit || span < -kLimit) return false;
  span = span < 0 ? -span : span;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const int64_t steps = tensor.shape[i] - 1;
    if (steps == 0) continue;
    int64_t reach = 0;
    if (__builtin_mul_overflow(elements, tensor.shape[i], &elements) || elements > kLimit) return false;
    if (__builtin_mul_overflow(steps, tensor.strides[i], &reach) || reach > kLimit || reach < -kLimit)
      return false;
    span += reach < 0 ? -reach : reach;
    if (span > kLimit) return false;
  }
  return true;
}

}  // namespace

int channel_axis(const Param& data) {
  const bool last = data->format == BNAPI_FORMAT_NHWC || data->format == BNAPI_FORMAT_NDHWC;
  return last ? data->rank() - 1 : 1;
}

bool allows(const Call& call, DTypeSet set, int32_t dtype) {
  return contains(allowed_bits(call, set), dtype);
}

void Checker::required(Params params) const {
  for (const Param& param : params) {
    if (!param) throw call_.error(BNAPI_ERR_PARAM_NULLPTR, param.name, "NULL; a tensor is required");
  }
}

void Checker::mask(const char* name, const BoolArray* mask, size_t length) const {
  if (mask == nullptr) throw call_.error(BNAPI_ERR_PARAM_NULLPTR, name, "NULL; a bool array is required");
  if (mask->values.size() != length) {
    throw call_.error(
        BNAPI_ERR_PARAM_NULLPTR, name,
        "length " + std::to_string(mask->values.size()) + "; expected " + std::to_string(length));
  }
}

void Checker::views(Params params) const {
  for (const Param& param : params) {
    if (!param) continue;
    for (const int64_t extent : param->shape) {
      if (extent < 0)
        throw call_.error(invalid_, param.name, "shape " + shape_text(*param) + "; extents are not negative");
    }
    if (!param->empty() && !spans_memory(*param)) {
      throw call_.error(invalid_, param.name,
                        "shape " + shape_text(*param) + " with its strides and offset; beyond any memory");
    }
  }
}

void Checker::written_once(Params params) const {
  for (const Param& param : params) {
    if (!param || !addresses_twice(param->rank(), param->shape.data(), param->strides.data())) continue;
    std::string strides;
    for (const int64_t stride : param->strides)
      strides = join(strides, std::to_string(stride));
    throw call_.error(invalid_, param.name,
                      "shape " + shape_text(*param) + " with strides [" + strides +
                          "]; an output must not address an element twice");
  }
}

void Checker::dtypes(DTypeSet set, Params params) const {
  const uint64_t allowed = allowed_bits(call_, set);
  for (const Param& param : params) {
    if (!param || contains(allowed, param->dtype)) continue;
    throw call_.error(invalid_, param.name,
                      "dtype " + dtype_name(param->dtype) + "; expected " + names_in(kDTypeNames, allowed));
  }
}

void Checker::same_dtype(const Param& reference, Params params) const {
  if (!reference) return;
  for (const Param& param : params) {
    if (!param || param->dtype == reference->dtype) continue;
    throw call_.error(invalid_, param.name,
                      "dtype " + dtype_name(param->dtype) + "; expected " + dtype_name(reference->dtype) +
                          ", as " + reference.name);
  }
}

void Checker::same_dtype_or_float32(const Param& reference, Params params) const {
  if (!reference) return;
  const uint64_t allowed = allowed_bits(call_, kFloat32Only);
  for (const Param& param : params) {
    if (!param || param->dtype == reference->dtype || contains(allowed, param->dtype)) continue;
    throw call_.error(invalid_, param.name,
                      "dtype " + dtype_name(param->dtype) + "; expected " + dtype_name(reference->dtype) +
                          ", as " + reference.name + ", or " + names_in(kDTypeNames, allowed));
  }
}

void Checker::same_label(const Param& reference, Params params) const {
  if (!reference) return;
  for (const Param& param : params) {
    if (!param || param->format == reference->format) continue;
    throw call_.error(invalid_, param.name,
                      "label " + format_name(param->format) + "; expected " + format_name(reference->format) +
                          ", as " + reference.name);
  }
}

void Checker::labels(LabelSet set, Params params) const {
  const uint64_t allowed = static_cast<uint64_t>(set);
  for (const Param& param : params) {
    if (!param || contains(allowed, param->format)) continue;
    throw call_.error(
        invalid_, param.name,
        "label " + format_name(param->format) + "; expected " + names_in(kFormatNames, allowed));
  }
}

void Checker::batch_norm_labels(Params params) const {
  for (const Param& param : params) {
    if (!param) continue;
    const uint64_t allowed = static_cast<uint64_t>(batch_norm_labels_of_rank(param->rank()));
    if (contains(allowed, param->format)) continue;
    throw call_.error(invalid_, param.name,
                      "label " + format_name(param->format) + "; expected " +
                          names_in(kFormatNames, allowed) + " for rank " + std::to_string(param->rank()));
  }
}

void Checker::rank(int low, int high, Params params) const {
  for (const Param& param : params) {
    if (!param || (param->rank() >= low && param->rank() <= high)) continue;
    const std::string range =
        low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
    throw call_.error(invalid_, param.name,
                      "rank " + std::to_string(param->rank()) + ", shape " + shape_text(*param) +
                          "; expected rank " + range);
  }
}

void Checker::same_shape(const Param& reference, Params params) const {
  for (const Param& param : params) {
    if (!param || param->shape == reference->shape) continue;
    throw call_.error(
        invalid_, param.name,
        "shape " + shape_text(*param) + "; expected " + shape_text(*reference) + ", as " + reference.name);
  }
}

void Checker::not_empty(Params params) const {
  for (const Param& param : params) {
    if (param && param->empty()) {
      throw call_.error(invalid_, param.name, "shape " + shape_text(*param) + "; must not be empty");
    }
  }
}

void Checker::axis_not_empty(const Param& param, int axis) const {
  if (param->shape[axis] != 0) return;
  throw call_.error(invalid_, param.name,
                    "shape " + shape_text(*param) + "; axis " + std::to_string(axis) + " must not be empty");
}

void Checker::per_channel(const Channels& channels, Params params) const {
  for (const Param& param : params) {
    if (!param || (param->rank() == 1 && param->shape[0] == channels.count)) continue;
    throw call_.error(invalid_, param.name,
                      "shape " + shape_text(*param) + "; expected [" + std::to_string(channels.count) +
                          "], one value per channel of " + channels.of.name);
  }
}

void Checker::same_extent(const Param& reference, int reference_axis, int axis, Params params) const {
  const int64_t expected = reference->shape[reference_axis];
  for (const Param& param : params) {
    if (!param || (axis < param->rank() && param->shape[axis] == expected)) continue;
    throw call_.error(invalid_, param.name,
                      "shape " + shape_text(*param) + "; expected " + std::to_string(expected) +
                          " for axis " + std::to_string(axis) + ", as axis " +
                          std::to_string(reference_axis) + " of " + reference.name);
  }
}

void Checker::scalar_given(const char* name, const Scalar* scalar) const {
  if (scalar == nullptr) throw call_.error(BNAPI_ERR_PARAM_NULLPTR, name, "NULL; a scalar is required");
}

double Checker::scalar(DTypeSet set, const char* name, const Scalar& scalar) const {
  const uint64_t allowed = allowed_bits(call_, set);
  if (!contains(allowed, scalar.dtype)) {
    throw call_.error(invalid_, name,
                      "dtype " + dtype_name(scalar.dtype) + "; expected " + names_in(kDTypeNames, allowed));
  }
  return load_as_double(scalar.bytes, static_cast<DType>(scalar.dtype));
}

}  // namespace bn
