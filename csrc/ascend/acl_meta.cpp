// aclnn/acl_meta.h and aclnn/aclnn_base.h: descriptors, executors, start and end; and the vendor's hooks
// for large workspaces that clients look up by name.

#include "aclnn/acl_meta.h"

#include "aclnn/aclnn_base.h"
#include "ascend/forward.h"

namespace {

aclnnStatus set_dynamic(const char* function, aclOpExecutor* executor, size_t relativeIndex,
                        const aclTensorList* tensors) {
  AscendCall call(function);
  if (executor == nullptr) return call.fail(BNAPI_ERR_INNER_NULLPTR, "executor: null");
  if (tensors == nullptr) return call.fail(BNAPI_ERR_INNER_NULLPTR, "tensors: null");
  uint64_t size = 0;
  const int32_t status = bnapiAscendGetListSize(BNAPI_ASCEND_TENSORS, tensors, &size);
  if (status != BNAPI_SUCCESS) return call.done(status);
  if (relativeIndex >= size)
    return call.fail(BNAPI_ERR_PARAM_INVALID, "relativeIndex: past the end of the list");
  return call.fail(BNAPI_ERR_PARAM_INVALID,
                   "irIndex: that parameter is no tensor list; no operator here takes one");
}

}  // namespace

extern "C" {

aclnnStatus aclnnInit(const char*) {
  return BNAPI_SUCCESS;
}
aclnnStatus aclnnFinalize() {
  return BNAPI_SUCCESS;
}

// ---- tensors --------------------------------------------------------------------------------------------

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  AscendCall call(__func__);
  return reinterpret_cast<aclTensor*>(
      call.made<bnapiTensor>(bnapiCreateTensor(viewDims, viewDimsNum, neutral(dataType), stride, offset,
                                               neutral(format), storageDims, storageDimsNum, tensorData)));
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  AscendCall call(__func__);
  return call.done(bnapiDestroyTensor(neutral(tensor)));
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset, aclFormat format,
                          const int64_t* storageDims, uint64_t storageDimsNum, void* tensorDataAddr) {
  AscendCall call(__func__);
  return call.done(bnapiInitTensor(neutral(tensor), viewDims, viewDimsNum, neutral(dataType), stride, offset,
                                   neutral(format), storageDims, storageDimsNum, tensorDataAddr));
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  AscendCall call(__func__);
  return call.done(bnapiGetViewShape(neutral(tensor), viewDims, viewDimsNum));
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims, uint64_t* storageDimsNum) {
  AscendCall call(__func__);
  return call.done(bnapiGetStorageShape(neutral(tensor), storageDims, storageDimsNum));
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue, uint64_t* stridesNum) {
  AscendCall call(__func__);
  return call.done(bnapiGetViewStrides(neutral(tensor), stridesValue, stridesNum));
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  AscendCall call(__func__);
  return call.done(bnapiGetViewOffset(neutral(tensor), offset));
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  AscendCall call(__func__);
  return call.done(bnapiGetFormat(neutral(tensor), reinterpret_cast<bnapiFormat*>(format)));
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  AscendCall call(__func__);
  return call.done(bnapiGetDataType(neutral(tensor), reinterpret_cast<bnapiDataType*>(dataType)));
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  AscendCall call(__func__);
  return call.done(bnapiGetRawTensorAddr(neutral(tensor), addr));
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  AscendCall call(__func__);
  return call.done(bnapiSetRawTensorAddr(neutral(tensor), addr));
}

// ---- scalars, arrays, lists -----------------------------------------------------------------------------

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  AscendCall call(__func__);
  return reinterpret_cast<aclScalar*>(call.made<bnapiScalar>(bnapiCreateScalar(value, neutral(dataType))));
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  AscendCall call(__func__);
  return call.done(bnapiDestroyScalar(neutral(scalar)));
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  AscendCall call(__func__);
  return reinterpret_cast<aclBoolArray*>(call.made<bnapiBoolArray>(bnapiCreateBoolArray(value, size)));
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
  AscendCall call(__func__);
  return call.done(bnapiDestroyBoolArray(neutral(array)));
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  AscendCall call(__func__);
  return call.done(bnapiGetBoolArraySize(neutral(array), size));
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  AscendCall call(__func__);
  return call.made<aclIntArray>(bnapiAscendCreateList(BNAPI_ASCEND_INTS, value, size));
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
  AscendCall call(__func__);
  return call.done(bnapiAscendDestroyList(BNAPI_ASCEND_INTS, array));
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  AscendCall call(__func__);
  return call.done(bnapiAscendGetListSize(BNAPI_ASCEND_INTS, array, size));
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  AscendCall call(__func__);
  return call.made<aclFloatArray>(bnapiAscendCreateList(BNAPI_ASCEND_FLOATS, value, size));
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  AscendCall call(__func__);
  return call.done(bnapiAscendDestroyList(BNAPI_ASCEND_FLOATS, array));
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  AscendCall call(__func__);
  return call.done(bnapiAscendGetListSize(BNAPI_ASCEND_FLOATS, array, size));
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  AscendCall call(__func__);
  return call.made<aclTensorList>(bnapiAscendCreateList(BNAPI_ASCEND_TENSORS, value, size));
}

aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  AscendCall call(__func__);
  return call.done(bnapiAscendDestroyList(BNAPI_ASCEND_TENSORS, array));
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  AscendCall call(__func__);
  return call.done(bnapiAscendGetListSize(BNAPI_ASCEND_TENSORS, tensorList, size));
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  AscendCall call(__func__);
  return call.made<aclScalarList>(bnapiAscendCreateList(BNAPI_ASCEND_SCALARS, value, size));
}

aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
  AscendCall call(__func__);
  return call.done(bnapiAscendDestroyList(BNAPI_ASCEND_SCALARS, array));
}

aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
  AscendCall call(__func__);
  return call.done(bnapiAscendGetListSize(BNAPI_ASCEND_SCALARS, scalarList, size));
}

// ---- executors ------------------------------------------------------------------------------------------

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  AscendCall call(__func__);
  return call.done(bnapiSetOpExecutorRepeatable(neutral(executor)));
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  AscendCall call(__func__);
  return call.done(bnapiDestroyOpExecutor(neutral(executor)));
}

aclnnStatus aclDestroyOpExecutor(aclOpExecutor* executor) {
  AscendCall call(__func__);
  const int32_t status = bnapiDestroyOpExecutor(neutral(executor));
  // Samples call it after phase two has consumed the executor.
  if (executor != nullptr && status == BNAPI_ERR_INNER_NULLPTR) return BNAPI_SUCCESS;
  return call.done(status);
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  AscendCall call(__func__);
  return call.done(bnapiSetInputTensorAddr(neutral(executor), index, neutral(tensor), addr));
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  AscendCall call(__func__);
  return call.done(bnapiSetOutputTensorAddr(neutral(executor), index, neutral(tensor), addr));
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr) {
  AscendCall call(__func__);
  return call.done(bnapiSetTensorAddr(neutral(executor), index, neutral(tensor), addr));
}

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t, const size_t relativeIndex,
                                         aclTensorList* tensors, void*) {
  return set_dynamic(__func__, executor, relativeIndex, tensors);
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t, const size_t relativeIndex,
                                          aclTensorList* tensors, void*) {
  return set_dynamic(__func__, executor, relativeIndex, tensors);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t, const size_t relativeIndex,
                                    aclTensorList* tensors, void*) {
  return set_dynamic(__func__, executor, relativeIndex, tensors);
}

aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return aclSetInputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return aclSetOutputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr) {
  return aclSetTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t, const size_t relativeIndex,
                                         aclTensorList* tensors, void*) {
  return set_dynamic(__func__, executor, relativeIndex, tensors);
}

aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t, const size_t relativeIndex,
                                          aclTensorList* tensors, void*) {
  return set_dynamic(__func__, executor, relativeIndex, tensors);
}

aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t, const size_t relativeIndex,
                                    aclTensorList* tensors, void*) {
  return set_dynamic(__func__, executor, relativeIndex, tensors);
}

// ---- hooks that clients look up and call around an operator; there is nothing to do ---------------------

ACL_FUNC_VISIBILITY int InitHugeMemThreadLocal(void*, bool) {
  return 0;
}
ACL_FUNC_VISIBILITY void UnInitHugeMemThreadLocal(void*, bool) {}
ACL_FUNC_VISIBILITY void ReleaseHugeMem(void*, bool) {}

}  // extern "C"
