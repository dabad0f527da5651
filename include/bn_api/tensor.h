/* Descriptors of tensors, scalars and bool arrays. They describe memory and never own it; operators copy what
 * they need from them in phase one, so they may be destroyed between the phases.
 */
#ifndef BN_API_TENSOR_H_
#define BN_API_TENSOR_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Describes a view of device memory. Strides and offset count elements; strides may be 0 or negative.
 *   viewDims     [viewDimsNum] extents; may be NULL only if viewDimsNum is 0 (a tensor of one element)
 *   strides      [viewDimsNum], or NULL for a contiguous row-major view
 *   storageDims  the physical buffer's extents; kept for bnapiGetStorageShape, never checked
 *   data         the buffer's start; element 0 is at data + offset * element size. May be NULL in phase one.
 * Returns NULL (message set) if a dims array is NULL with a count above 0, a count is above 64, or memory is short.
 * Dtype, rank and extents are checked by the operators that take the tensor. */
BNAPI_EXPORT bnapiTensor* bnapiCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                                            bnapiDataType dataType, const int64_t* strides, int64_t offset,
                                            bnapiFormat format, const int64_t* storageDims,
                                            uint64_t storageDimsNum, void* data);
/* NULL is allowed. A handle that is no live tensor: BNAPI_ERR_PARAM_INVALID. So for the other destroys here. */
BNAPI_EXPORT bnapiStatus bnapiDestroyTensor(const bnapiTensor* tensor);
/* Describes an existing tensor anew. NULL or empty dims keep its shape, NULL data keeps its address. */
BNAPI_EXPORT bnapiStatus bnapiInitTensor(bnapiTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                                         bnapiDataType dataType, const int64_t* strides, int64_t offset,
                                         bnapiFormat format, const int64_t* storageDims,
                                         uint64_t storageDimsNum, void* data);

/* Getters. A null pointer: BNAPI_ERR_PARAM_NULLPTR; no live tensor: BNAPI_ERR_PARAM_INVALID; no memory for a copy:
 * BNAPI_ERR_INNER. Arrays are copied out: *dims is allocated with C++
 * `new int64_t[*dimsNum]` as in aclnn; release it with delete[] or bnapiReleaseDims. */
BNAPI_EXPORT bnapiStatus bnapiGetViewShape(const bnapiTensor* tensor, int64_t** viewDims,
                                           uint64_t* viewDimsNum);
BNAPI_EXPORT bnapiStatus bnapiGetViewStrides(const bnapiTensor* tensor, int64_t** strides,
                                             uint64_t* stridesNum);
BNAPI_EXPORT bnapiStatus bnapiGetStorageShape(const bnapiTensor* tensor, int64_t** storageDims,
                                              uint64_t* storageDimsNum);
BNAPI_EXPORT void bnapiReleaseDims(int64_t* dims);
BNAPI_EXPORT bnapiStatus bnapiGetViewOffset(const bnapiTensor* tensor, int64_t* offset);
BNAPI_EXPORT bnapiStatus bnapiGetFormat(const bnapiTensor* tensor, bnapiFormat* format);
BNAPI_EXPORT bnapiStatus bnapiGetDataType(const bnapiTensor* tensor, bnapiDataType* dataType);
/* The buffer's start, before the offset is applied. */
BNAPI_EXPORT bnapiStatus bnapiGetRawTensorAddr(const bnapiTensor* tensor, void** addr);
/* Changes the descriptor only; an executor planned from it keeps the address it copied. */
BNAPI_EXPORT bnapiStatus bnapiSetRawTensorAddr(bnapiTensor* tensor, void* addr);
/* Bytes of one element; 0 for types without a fixed size. */
BNAPI_EXPORT size_t bnapiDataTypeSize(bnapiDataType dataType);

/* A scalar copied from `value` by its type (int, float, double, bool kinds). NULL if value is NULL. */
BNAPI_EXPORT bnapiScalar* bnapiCreateScalar(void* value, bnapiDataType dataType);
BNAPI_EXPORT bnapiStatus bnapiDestroyScalar(const bnapiScalar* scalar);
BNAPI_EXPORT bnapiStatus bnapiGetScalarDataType(const bnapiScalar* scalar, bnapiDataType* dataType);
/* Copies the value out; `value` must have room for the scalar's type. */
BNAPI_EXPORT bnapiStatus bnapiGetScalarValue(const bnapiScalar* scalar, void* value);

/* A bool array, copied. NULL or size 0 gives a valid empty one. Returns NULL (message set) if size is above 2^20 or
 * memory is short. */
BNAPI_EXPORT bnapiBoolArray* bnapiCreateBoolArray(const bool* value, uint64_t size);
BNAPI_EXPORT bnapiStatus bnapiDestroyBoolArray(const bnapiBoolArray* array);
BNAPI_EXPORT bnapiStatus bnapiGetBoolArraySize(const bnapiBoolArray* array, uint64_t* size);
/* Copies the entries out; `value` must have room for `size` of them. */
BNAPI_EXPORT bnapiStatus bnapiGetBoolArrayValues(const bnapiBoolArray* array, bool* value, uint64_t size);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_TENSOR_H_ */
