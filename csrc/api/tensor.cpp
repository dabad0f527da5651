// bn_api/tensor.h: descriptors of tensors, scalars and bool arrays.

#include "bn_api/tensor.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "api/guard.h"
#include "core/runtime.h"

namespace bn {
namespace {

// Operators refuse ranks above 8. More dimensions than this are no tensor of anybody's but an uninitialised count, and
// reading so many would leave the caller's array.
constexpr uint64_t kMaxDims = 64;
// So for bool arrays, of which masks have 3 or 4 entries.
constexpr uint64_t kMaxBools = uint64_t{1} << 20;

void require_dims(const char* function, const char* parameter, const int64_t* dims, uint64_t count) {
  if (dims == nullptr && count > 0) {
    throw Error(BNAPI_ERR_PARAM_NULLPTR, std::string(function) + ": " + parameter + ": null with " +
                                             parameter + "Num " + std::to_string(count));
  }
  if (count > kMaxDims) {
    throw Error(BNAPI_ERR_PARAM_INVALID, std::string(function) + ": " + parameter +
                                             "Num: " + std::to_string(count) + "; expected at most " +
                                             std::to_string(kMaxDims));
  }
}

// Fills in shape, strides and storage; throws where the contract of bnapiCreateTensor says NULL.
void describe(Tensor& tensor, const char* function, const int64_t* view_dims, uint64_t view_dims_num,
              const int64_t* strides, const int64_t* storage_dims, uint64_t storage_dims_num) {
  require_dims(function, "viewDims", view_dims, view_dims_num);
  require_dims(function, "storageDims", storage_dims, storage_dims_num);
  tensor.shape.assign(view_dims, view_dims + view_dims_num);
  if (strides != nullptr) {
    tensor.strides.assign(strides, strides + view_dims_num);
  } else {
    tensor.strides.assign(view_dims_num, 1);
    for (uint64_t d = view_dims_num; d-- > 1;) {
      // Extents are not checked yet: an overflowing product is the operators' to refuse.
      if (__builtin_mul_overflow(tensor.strides[d], tensor.shape[d], &tensor.strides[d - 1])) {
        tensor.strides[d - 1] = INT64_MAX;
      }
    }
  }
  tensor.storage.assign(storage_dims, storage_dims + storage_dims_num);
}

[[noreturn]] void throw_not_a_tensor(const char* function) {
  throw Error(BNAPI_ERR_PARAM_INVALID,
              std::string(function) + ": tensor: not a live tensor (destroyed, or never one)");
}

std::shared_ptr<const Tensor> live_tensor(const char* function, const bnapiTensor* handle) {
  if (handle == nullptr) throw Error(BNAPI_ERR_PARAM_NULLPTR, std::string(function) + ": tensor: null");
  std::shared_ptr<const Tensor> tensor = Runtime::get().tensors.find(handle_bits(handle));
  if (tensor == nullptr) throw_not_a_tensor(function);
  return tensor;
}

// Another thread may have destroyed it since live_tensor() saw it.
void replace_tensor(const char* function, const bnapiTensor* handle, std::shared_ptr<const Tensor> changed) {
  if (!Runtime::get().tensors.replace(handle_bits(handle), std::move(changed))) throw_not_a_tensor(function);
}

void require(const char* function, const char* parameter, const void* pointer) {
  if (pointer == nullptr)
    throw Error(BNAPI_ERR_PARAM_NULLPTR, std::string(function) + ": " + parameter + ": null");
}

// The getters of acl_meta.h hand out arrays that the caller releases with delete[].
void copy_out(const std::vector<int64_t>& from, int64_t** to, uint64_t* count) {
  int64_t* copy = new int64_t[from.size()];
  std::copy(from.begin(), from.end(), copy);
  *to = copy;
  *count = from.size();
}

template <class Getter>
bnapiStatus get(const char* function, const bnapiTensor* tensor, const void* out, Getter getter) {
  return guard(BNAPI_ERR_INNER, [&] {
    if (tensor == nullptr) require(function, "tensor", tensor);
    require(function, "result", out);
    getter(*live_tensor(function, tensor));
  });
}

template <class Getter>
bnapiStatus get_dims(const char* function, const bnapiTensor* tensor, int64_t** dims, uint64_t* count,
                     Getter getter) {
  return get(function, tensor, dims, [&](const Tensor& t) {
    require(function, "count", count);
    copy_out(getter(t), dims, count);
  });
}

size_t element_size(int32_t dtype) {
  switch (dtype) {
    case BNAPI_INT8:
    case BNAPI_UINT8:
    case BNAPI_BOOL:
    case 29:  // INT4 and UINT1: packed types are counted as one byte, as aclDataTypeSize does
    case 30:
      return 1;
    case BNAPI_FLOAT16:
    case BNAPI_BF16:
    case BNAPI_INT16:
    case BNAPI_UINT16:
      return 2;
    case BNAPI_FLOAT:
    case BNAPI_INT32:
    case BNAPI_UINT32:
    case 33:  // COMPLEX32
      return 4;
    case BNAPI_DOUBLE:
    case BNAPI_INT64:
    case BNAPI_UINT64:
    case BNAPI_COMPLEX64:
      return 8;
    case BNAPI_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

// Destroying: NULL is fine, a live handle is released, anything else is refused. The text of an earlier
// failure stays when this succeeds: a collector may run a destroy between a failing call and the read of its
// message.
template <class Objects, class Handle>
bnapiStatus destroy(Objects& objects, const Handle* handle, const char* what) {
  if (handle == nullptr) return BNAPI_SUCCESS;
  return guard([&] {
    if (objects.take(handle_bits(handle)) == nullptr) {
      throw Error(BNAPI_ERR_PARAM_INVALID,
                  std::string("destroy: not a live ") + what + " (destroyed, or never one)");
    }
  });
}

// Reads a scalar or an array behind its handle.
template <class Objects, class Handle, class Getter>
bnapiStatus get_object(Objects& objects, const char* function, const char* what, const Handle* handle,
                       const void* out, Getter getter) {
  return guard(BNAPI_ERR_INNER, [&] {
    require(function, what, handle);
    require(function, "result", out);
    const auto object = objects.find(handle_bits(handle));
    if (object == nullptr) {
      throw Error(BNAPI_ERR_PARAM_INVALID,
                  std::string(function) + ": " + what + ": not a live one (destroyed, or never one)");
    }
    getter(*object);
  });
}

// Creation returns a handle or NULL, with the reason in the thread's error text.
template <class Handle, class Create>
Handle* create(Create make) {
  Handle* handle = nullptr;
  guard(BNAPI_ERR_INNER_CREATE_EXECUTOR, [&] { handle = to_handle<Handle*>(make()); });
  return handle;
}

}  // namespace
}  // namespace bn

using bn::Runtime;

extern "C" {

bnapiTensor* bnapiCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, bnapiDataType dataType,
                               const int64_t* strides, int64_t offset, bnapiFormat format,
                               const int64_t* storageDims, uint64_t storageDimsNum, void* data) {
  return bn::create<bnapiTensor>([&] {
    auto tensor = std::make_shared<bn::Tensor>();
    bn::describe(*tensor, "CreateTensor", viewDims, viewDimsNum, strides, storageDims, storageDimsNum);
    tensor->offset = offset;
    tensor->dtype = dataType;
    tensor->format = format;
    tensor->data = data;
    return Runtime::get().tensors.insert(std::move(tensor));
  });
}

bnapiStatus bnapiDestroyTensor(const bnapiTensor* tensor) {
  return bn::destroy(Runtime::get().tensors, tensor, "tensor");
}

bnapiStatus bnapiInitTensor(bnapiTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                            bnapiDataType dataType, const int64_t* strides, int64_t offset,
                            bnapiFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                            void* data) {
  return bn::guard(BNAPI_ERR_INNER, [&] {
    auto changed = std::make_shared<bn::Tensor>(*bn::live_tensor("InitTensor", tensor));
    const std::vector<int64_t> storage = changed->storage;
    if (viewDims != nullptr && viewDimsNum > 0) {
      bn::describe(*changed, "InitTensor", viewDims, viewDimsNum, strides, storageDims,
                   storageDims != nullptr ? storageDimsNum : 0);
    }
    if (storageDims == nullptr || storageDimsNum == 0) changed->storage = storage;
    changed->offset = offset;
    changed->dtype = dataType;
    changed->format = format;
    if (data != nullptr) changed->data = data;
    bn::replace_tensor("InitTensor", tensor, std::move(changed));
  });
}

bnapiStatus bnapiGetViewShape(const bnapiTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return bn::get_dims("GetViewShape", tensor, viewDims, viewDimsNum,
                      [](const bn::Tensor& t) { return t.shape; });
}

bnapiStatus bnapiGetViewStrides(const bnapiTensor* tensor, int64_t** strides, uint64_t* stridesNum) {
  return bn::get_dims("GetViewStrides", tensor, strides, stridesNum,
                      [](const bn::Tensor& t) { return t.strides; });
}

bnapiStatus bnapiGetStorageShape(const bnapiTensor* tensor, int64_t** storageDims, uint64_t* storageDimsNum) {
  return bn::get_dims("GetStorageShape", tensor, storageDims, storageDimsNum,
                      [](const bn::Tensor& t) { return t.storage; });
}

void bnapiReleaseDims(int64_t* dims) {
  delete[] dims;
}

bnapiStatus bnapiGetViewOffset(const bnapiTensor* tensor, int64_t* offset) {
  return bn::get("GetViewOffset", tensor, offset, [&](const bn::Tensor& t) { *offset = t.offset; });
}

bnapiStatus bnapiGetFormat(const bnapiTensor* tensor, bnapiFormat* format) {
  return bn::get("GetFormat", tensor, format,
                 [&](const bn::Tensor& t) { memcpy(format, &t.format, sizeof(*format)); });
}

bnapiStatus bnapiGetDataType(const bnapiTensor* tensor, bnapiDataType* dataType) {
  return bn::get("GetDataType", tensor, dataType,
                 [&](const bn::Tensor& t) { memcpy(dataType, &t.dtype, sizeof(*dataType)); });
}

bnapiStatus bnapiGetRawTensorAddr(const bnapiTensor* tensor, void** addr) {
  return bn::get("GetRawTensorAddr", tensor, addr, [&](const bn::Tensor& t) { *addr = t.data; });
}

bnapiStatus bnapiSetRawTensorAddr(bnapiTensor* tensor, void* addr) {
  return bn::guard(BNAPI_ERR_INNER, [&] {
    auto changed = std::make_shared<bn::Tensor>(*bn::live_tensor("SetRawTensorAddr", tensor));
    changed->data = addr;
    bn::replace_tensor("SetRawTensorAddr", tensor, std::move(changed));
  });
}

size_t bnapiDataTypeSize(bnapiDataType dataType) {
  return bn::element_size(dataType);
}

bnapiScalar* bnapiCreateScalar(void* value, bnapiDataType dataType) {
  return bn::create<bnapiScalar>([&] {
    bn::require("CreateScalar", "value", value);
    auto scalar = std::make_shared<bn::Scalar>();
    scalar->dtype = dataType;
    memcpy(scalar->bytes, value, bn::element_size(dataType));
    return Runtime::get().scalars.insert(std::move(scalar));
  });
}

bnapiStatus bnapiDestroyScalar(const bnapiScalar* scalar) {
  return bn::destroy(Runtime::get().scalars, scalar, "scalar");
}

bnapiStatus bnapiGetScalarDataType(const bnapiScalar* scalar, bnapiDataType* dataType) {
  return bn::get_object(Runtime::get().scalars, "GetScalarDataType", "scalar", scalar, dataType,
                        [&](const bn::Scalar& s) { memcpy(dataType, &s.dtype, sizeof(*dataType)); });
}

bnapiStatus bnapiGetScalarValue(const bnapiScalar* scalar, void* value) {
  return bn::get_object(Runtime::get().scalars, "GetScalarValue", "scalar", scalar, value,
                        [&](const bn::Scalar& s) { memcpy(value, s.bytes, bn::element_size(s.dtype)); });
}

bnapiBoolArray* bnapiCreateBoolArray(const bool* value, uint64_t size) {
  return bn::create<bnapiBoolArray>([&] {
    auto array = std::make_shared<bn::BoolArray>();
    if (value != nullptr && size > bn::kMaxBools) {
      throw bn::Error(BNAPI_ERR_PARAM_INVALID, "CreateBoolArray: size: " + std::to_string(size) +
                                                   "; expected at most " + std::to_string(bn::kMaxBools));
    }
    // As bytes: in C an entry may hold what no C++ bool does.
    const auto* bytes = reinterpret_cast<const unsigned char*>(value);
    if (value != nullptr) array->values.assign(bytes, bytes + size);
    return Runtime::get().bool_arrays.insert(std::move(array));
  });
}

bnapiStatus bnapiDestroyBoolArray(const bnapiBoolArray* array) {
  return bn::destroy(Runtime::get().bool_arrays, array, "bool array");
}

bnapiStatus bnapiGetBoolArraySize(const bnapiBoolArray* array, uint64_t* size) {
  return bn::get_object(Runtime::get().bool_arrays, "GetBoolArraySize", "array", array, size,
                        [&](const bn::BoolArray& a) { *size = a.values.size(); });
}

bnapiStatus bnapiGetBoolArrayValues(const bnapiBoolArray* array, bool* value, uint64_t size) {
  return bn::get_object(
      Runtime::get().bool_arrays, "GetBoolArrayValues", "array", array, value, [&](const bn::BoolArray& a) {
        if (size < a.values.size()) {
          throw bn::Error(BNAPI_ERR_PARAM_INVALID, "GetBoolArrayValues: size: " + std::to_string(size) +
                                                       "; expected at least " +
                                                       std::to_string(a.values.size()));
        }
        for (size_t i = 0; i < a.values.size(); ++i)
          value[i] = a.values[i] != 0;
      });
}

}  // extern "C"
