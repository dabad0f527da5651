// Written by csrc/ascend/generate.py; do not edit.
//
// Functions that the headers declare, so that programs compile and link, and that this library
// does not have: each returns a status that says so, or null, and leaves a text.
// clang-format off
#include "acl/acl.h"
#include "acl/acl_base.h"
#include "acl/acl_dump.h"
#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "acl/acl_rt.h"
#include "acl/acl_rt_allocator.h"
#include "acl/acl_tdt.h"
#include "ascend/forward.h"

extern "C" {

// ---- acl_base.h

aclDataBuffer* aclCreateDataBuffer(void*, size_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr;
}
aclError aclDestroyDataBuffer(const aclDataBuffer*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclUpdateDataBuffer(aclDataBuffer*, void*, size_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
void* aclGetDataBufferAddr(const aclDataBuffer*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr;
}
uint32_t aclGetDataBufferSize(const aclDataBuffer*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0;
}
size_t aclGetDataBufferSizeV2(const aclDataBuffer*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0;
}
aclTensorDesc* aclCreateTensorDesc(aclDataType, int, const int64_t*, aclFormat) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr;
}
void aclDestroyTensorDesc(const aclTensorDesc*) { refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclSetTensorShapeRange(aclTensorDesc*, size_t, int64_t [][ACL_TENSOR_SHAPE_RANGE_NUM]) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclSetTensorValueRange(aclTensorDesc*, size_t, int64_t [][ACL_TENSOR_VALUE_RANGE_NUM]) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclDataType aclGetTensorDescType(const aclTensorDesc*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), ACL_DT_UNDEFINED;
}
aclFormat aclGetTensorDescFormat(const aclTensorDesc*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), ACL_FORMAT_UNDEFINED;
}
size_t aclGetTensorDescSize(const aclTensorDesc*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0;
}
size_t aclGetTensorDescElementCount(const aclTensorDesc*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0;
}
size_t aclGetTensorDescNumDims(const aclTensorDesc*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0;
}
int64_t aclGetTensorDescDim(const aclTensorDesc*, size_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0;
}
aclError aclGetTensorDescDimV2(const aclTensorDesc*, size_t, int64_t*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclGetTensorDescDimRange(const aclTensorDesc*, size_t, size_t, int64_t*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
void aclSetTensorDescName(aclTensorDesc*, const char*) { refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
const char* aclGetTensorDescName(aclTensorDesc*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr;
}
aclError aclTransTensorDescFormat(const aclTensorDesc*, aclFormat, aclTensorDesc**) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclSetTensorStorageFormat(aclTensorDesc*, aclFormat) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclSetTensorStorageShape(aclTensorDesc*, int, const int64_t*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclSetTensorFormat(aclTensorDesc*, aclFormat) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclSetTensorShape(aclTensorDesc*, int, const int64_t*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclSetTensorOriginFormat(aclTensorDesc*, aclFormat) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclSetTensorOriginShape(aclTensorDesc*, int, const int64_t*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclTensorDesc* aclGetTensorDescByIndex(aclTensorDesc*, size_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr;
}
void* aclGetTensorDescAddress(const aclTensorDesc*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr;
}
aclError aclSetTensorDynamicInput(aclTensorDesc*, const char*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclSetTensorConst(aclTensorDesc*, void*, size_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclSetTensorPlaceMent(aclTensorDesc*, aclMemType) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}

// ---- acl_dump.h

aclError acldumpRegCallback(int32_t (*const)(const acldumpChunk*, int32_t), int32_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
void acldumpUnregCallback() { refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }

// ---- acl_mdl.h

aclmdlDesc* aclmdlCreateDesc() { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr; }
aclError aclmdlDestroyDesc(aclmdlDesc*) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclmdlGetDesc(aclmdlDesc*, uint32_t) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
size_t aclmdlGetNumInputs(aclmdlDesc*) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0; }
size_t aclmdlGetNumOutputs(aclmdlDesc*) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0; }
size_t aclmdlGetInputSizeByIndex(aclmdlDesc*, size_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0;
}
size_t aclmdlGetOutputSizeByIndex(aclmdlDesc*, size_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0;
}
aclmdlDataset* aclmdlCreateDataset() { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr; }
aclError aclmdlDestroyDataset(const aclmdlDataset*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlAddDatasetBuffer(aclmdlDataset*, aclDataBuffer*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0;
}
aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset*, size_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr;
}
aclError aclmdlLoadFromFile(const char*, uint32_t*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlLoadFromMem(const void*, size_t, uint32_t*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlExecute(uint32_t, const aclmdlDataset*, aclmdlDataset*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlExecuteAsync(uint32_t, const aclmdlDataset*, aclmdlDataset*, aclrtStream) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlUnload(uint32_t) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclmdlQuerySize(const char*, size_t*, size_t*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlInitDump() { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclmdlSetDump(const char*) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclmdlFinalizeDump() { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclmdlRICaptureBegin(aclrtStream, aclmdlRICaptureMode) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlRICaptureGetInfo(aclrtStream, aclmdlRICaptureStatus*, aclmdlRI*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlRICaptureEnd(aclrtStream, aclmdlRI*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlRIExecuteAsync(aclmdlRI, aclrtStream) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlRIDestroy(aclmdlRI) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclmdlRIDebugPrint(aclmdlRI) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclmdlRICaptureTaskGrpBegin(aclrtStream) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclmdlRICaptureTaskGrpEnd(aclrtStream, aclrtTaskGrp*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream, aclrtTaskGrp) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}

// ---- acl_op.h

aclError aclopSetModelDir(const char*) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclopLoad(const void*, size_t) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclopAttr* aclopCreateAttr() { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr; }
void aclopDestroyAttr(const aclopAttr*) { refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclopSetAttrBool(aclopAttr*, const char*, uint8_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopSetAttrInt(aclopAttr*, const char*, int64_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopSetAttrFloat(aclopAttr*, const char*, float) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopSetAttrString(aclopAttr*, const char*, const char*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopSetAttrDataType(aclopAttr*, const char*, aclDataType) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopSetAttrListBool(aclopAttr*, const char*, int, const uint8_t*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopSetAttrListInt(aclopAttr*, const char*, int, const int64_t*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopSetAttrListFloat(aclopAttr*, const char*, int, const float*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopExecute(
    const char*, int, const aclTensorDesc* const [], const aclDataBuffer* const [], int,
    const aclTensorDesc* const [], aclDataBuffer* const [], const aclopAttr*, aclrtStream) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopExecuteV2(
    const char*, int, aclTensorDesc* [], aclDataBuffer* [], int, aclTensorDesc* [], aclDataBuffer* [],
    aclopAttr*, aclrtStream) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopCreateHandle(
    const char*, int, const aclTensorDesc* const [], int, const aclTensorDesc* const [], const aclopAttr*,
    aclopHandle**) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
void aclopDestroyHandle(aclopHandle*) { refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclopExecWithHandle(
    aclopHandle*, int, const aclDataBuffer* const [], int, aclDataBuffer* const [], aclrtStream) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}

// ---- acl_op_compiler.h

aclError aclopCompile(
    const char*, int, const aclTensorDesc* const [], int, const aclTensorDesc* const [], const aclopAttr*,
    aclEngineType, aclopCompileType, const char*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopCompileAndExecute(
    const char*, int, const aclTensorDesc* const [], const aclDataBuffer* const [], int,
    const aclTensorDesc* const [], aclDataBuffer* const [], const aclopAttr*, aclEngineType, aclopCompileType,
    const char*, aclrtStream) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopCompileAndExecuteV2(
    const char*, int, aclTensorDesc* [], aclDataBuffer* [], int, aclTensorDesc* [], aclDataBuffer* [],
    aclopAttr*, aclEngineType, aclopCompileType, const char*, aclrtStream) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclSetCompileopt(aclCompileOpt, const char*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
size_t aclGetCompileoptSize(aclCompileOpt) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0; }
aclError aclGetCompileopt(aclCompileOpt, char*, size_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclopSetCompileFlag(aclOpCompileFlag) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }

// ---- acl_prof.h

aclError aclprofInit(const char*, size_t) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclprofFinalize() { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclprofConfig* aclprofCreateConfig(
    uint32_t*, uint32_t, aclprofAicoreMetrics, const aclprofAicoreEvents*, uint64_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr;
}
aclError aclprofDestroyConfig(const aclprofConfig*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclprofStart(const aclprofConfig*) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclprofStop(const aclprofConfig*) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError aclprofModelSubscribe(uint32_t, const aclprofSubscribeConfig*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError aclprofModelUnSubscribe(uint32_t) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }

// ---- acl_rt.h

aclError aclrtSubscribeReport(uint64_t, aclrtStream) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtLaunchCallback(aclrtCallback, void*, aclrtCallbackBlockType, aclrtStream) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtProcessReport(int32_t) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtUnSubscribeReport(uint64_t, aclrtStream) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtSubscribeHostFunc(uint64_t, aclrtStream) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtProcessHostFunc(int32_t) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtUnSubscribeHostFunc(uint64_t, aclrtStream) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__), 0;
}
uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__), 0;
}
uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__), 0;
}
uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__), 0;
}
uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__), 0;
}
aclrtBinary aclrtCreateBinary(const void*, size_t) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__), nullptr;
}
aclError aclrtDestroyBinary(aclrtBinary) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtBinaryLoad(const aclrtBinary, aclrtBinHandle*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtBinaryLoadFromFile(const char*, aclrtBinaryLoadOptions*, aclrtBinHandle*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtBinaryUnLoad(aclrtBinHandle) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtBinaryGetFunction(const aclrtBinHandle, const char*, aclrtFuncHandle*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle, uint64_t, aclrtFuncHandle*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtGetFunctionAddr(aclrtFuncHandle, void**, void**) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtLaunchKernel(aclrtFuncHandle, uint32_t, const void*, size_t, aclrtStream) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtLaunchKernelWithConfig(
    aclrtFuncHandle, uint32_t, aclrtStream, aclrtLaunchKernelCfg*, aclrtArgsHandle, void*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtKernelArgsInit(aclrtFuncHandle, aclrtArgsHandle*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtKernelArgsAppend(aclrtArgsHandle, void*, size_t, aclrtParamHandle*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtKernelArgsFinalize(aclrtArgsHandle) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle() {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__), nullptr;
}
aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle*, aclrtStreamConfigAttr, const void*, size_t) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtCreateStreamV2(aclrtStream*, const aclrtStreamConfigHandle*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtStreamAbort(aclrtStream) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtDeviceTaskAbort(int32_t, uint32_t) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtSetTsDevice(aclrtTsId) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtGetThreadLastTaskId(uint32_t*) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtSetGroup(int32_t) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtGetGroupCount(uint32_t*) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclrtGroupInfo* aclrtCreateGroupInfo() {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__), nullptr;
}
aclError aclrtDestroyGroupInfo(aclrtGroupInfo*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtGetAllGroupInfo(aclrtGroupInfo*) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo*, int32_t, aclrtGroupAttr, void*, size_t, size_t*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtEventGetTimestamp(aclrtEvent, uint64_t*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtHostRegister(void*, uint64_t, aclrtHostRegisterType, void**) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtHostUnregister(void*) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtMemcpyAsyncWithCondition(void*, size_t, const void*, size_t, aclrtMemcpyKind, aclrtStream) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtMallocForTaskScheduler(void**, size_t, aclrtMemMallocPolicy, aclrtMallocConfig*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind, size_t*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtSetMemcpyDesc(void*, aclrtMemcpyKind, void*, void*, size_t, void*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtMemcpyAsyncWithDesc(void*, aclrtMemcpyKind, aclrtStream) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtReserveMemAddress(void**, size_t, size_t, void*, uint64_t) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtReleaseMemAddress(void*) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtMallocPhysical(aclrtDrvMemHandle*, size_t, const aclrtPhysicalMemProp*, uint64_t) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtFreePhysical(aclrtDrvMemHandle) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtMapMem(void*, size_t, size_t, aclrtDrvMemHandle, uint64_t) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtUnmapMem(void*) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp*, aclrtMemGranularityOptions, size_t*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle, aclrtMemHandleType, uint64_t, uint64_t*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtMemImportFromShareableHandle(uint64_t, int32_t, aclrtDrvMemHandle*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtMemSetPidToShareableHandle(uint64_t, int32_t*, size_t) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtDeviceGetBareTgid(int32_t*) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }
aclError aclrtGetMemUceInfo(int32_t, aclrtMemUceInfo*, size_t, size_t*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtMemUceRepair(int32_t, aclrtMemUceInfo*, size_t) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}

// ---- acl_rt_allocator.h

aclrtAllocatorDesc aclrtAllocatorCreateDesc() {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__), nullptr;
}
aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc, aclrtAllocator) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc, aclrtAllocatorAllocFunc) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc, aclrtAllocatorFreeFunc) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc, aclrtAllocatorAllocAdviseFunc) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc, aclrtAllocatorGetAddrFromBlockFunc) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtAllocatorRegister(aclrtStream, aclrtAllocatorDesc) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtAllocatorGetByStream(
    aclrtStream, aclrtAllocatorDesc*, aclrtAllocator*, aclrtAllocatorAllocFunc*, aclrtAllocatorFreeFunc*,
    aclrtAllocatorAllocAdviseFunc*, aclrtAllocatorGetAddrFromBlockFunc*) {
  return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__);
}
aclError aclrtAllocatorUnregister(aclrtStream) { return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__); }

// ---- acl_tdt.h

acltdtChannelHandle* acltdtCreateChannel(uint32_t, const char*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr;
}
acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t, const char*, size_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr;
}
aclError acltdtDestroyChannel(acltdtChannelHandle*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError acltdtStopChannel(acltdtChannelHandle*) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
acltdtDataset* acltdtCreateDataset() { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr; }
aclError acltdtDestroyDataset(acltdtDataset*) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
acltdtDataItem* acltdtCreateDataItem(acltdtTensorType, const int64_t*, size_t, aclDataType, void*, size_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), nullptr;
}
aclError acltdtDestroyDataItem(acltdtDataItem*) { return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__); }
aclError acltdtAddDataItem(acltdtDataset*, acltdtDataItem*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
size_t acltdtGetDatasetSize(const acltdtDataset*) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__), 0;
}
aclError acltdtSendTensor(const acltdtChannelHandle*, const acltdtDataset*, int32_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}
aclError acltdtReceiveTensor(const acltdtChannelHandle*, acltdtDataset*, int32_t) {
  return refused(ACL_ERROR_FEATURE_UNSUPPORTED, __func__);
}

}  // extern "C"
