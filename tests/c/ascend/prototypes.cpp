// Every function that the Ascend layer implements has the vendor's signature: the assignments below compile
// only if it has. Written from the interface's description, not from our headers.

#include <cstdio>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_batch_norm.h"
#include "aclnnop/aclnn_batch_norm_backward.h"
#include "aclnnop/aclnn_batch_norm_backward_reduce.h"
#include "aclnnop/aclnn_batch_norm_elemt.h"
#include "aclnnop/aclnn_batch_norm_elemt_backward.h"
#include "aclnnop/aclnn_batch_norm_gather_stats_with_counts.h"
#include "aclnnop/aclnn_batch_norm_reduce.h"
#include "aclnnop/aclnn_batch_norm_stats.h"
#include "aclnnop/aclnn_fast_batch_norm_backward.h"
#include "aclnnop/aclnn_quantized_batch_norm.h"
#include "aclnnop/aclnn_sync_batch_norm_gather_stats.h"

typedef const aclTensor* cT;
typedef aclTensor* T;
typedef const aclScalar* cS;
typedef uint64_t* Size;
typedef aclOpExecutor** Out;
typedef aclnnStatus (*PhaseTwo)(void*, uint64_t, aclOpExecutor*, aclrtStream);

static int used = 0;

template <class Function>
void check(Function function) {
  used += function != nullptr;
}

#define SAME(name, ...) \
  do {                  \
    __VA_ARGS__ = name; \
    check(pointer);     \
  } while (0)
#define PHASE_TWO(name)      \
  do {                       \
    PhaseTwo pointer = name; \
    check(pointer);          \
  } while (0)

static void operators() {
  SAME(aclnnBatchNormGetWorkspaceSize,
       aclnnStatus(*pointer)(cT, cT, cT, T, T, bool, double, double, T, T, T, Size, Out));
  SAME(aclnnBatchNormBackwardGetWorkspaceSize,
       aclnnStatus(*pointer)(cT, cT, cT, cT, cT, cT, cT, bool, double, const aclBoolArray*, T, T, T, Size,
                             Out));
  SAME(aclnnFastBatchNormBackwardGetWorkspaceSize,
       aclnnStatus(*pointer)(cT, cT, cT, cT, cT, cT, cT, bool, double, const aclBoolArray*, int, T, T, T,
                             Size, Out));
  SAME(aclnnBatchNormReduceBackwardGetWorkspaceSize,
       aclnnStatus(*pointer)(cT, cT, cT, cT, cT, bool, bool, bool, T, T, T, T, Size, Out));
  SAME(aclnnBatchNormElemtGetWorkspaceSize, aclnnStatus(*pointer)(cT, cT, cT, T, T, double, T, Size, Out));
  SAME(aclnnBatchNormElemtBackwardGetWorkspaceSize,
       aclnnStatus(*pointer)(cT, cT, cT, cT, cT, cT, cT, T, T, Size, Out));
  SAME(aclnnBatchNormStatsGetWorkspaceSize, aclnnStatus(*pointer)(cT, double, T, T, Size, Out));
  SAME(aclnnBatchNormGatherStatsWithCountsGetWorkspaceSize,
       aclnnStatus(*pointer)(cT, cT, cT, T, T, double, double, cT, T, T, Size, Out));
  SAME(aclnnSyncBatchNormGatherStatsGetWorkspaceSize,
       aclnnStatus(*pointer)(cT, cT, cT, T, T, float, float, T, T, Size, Out));
  SAME(aclnnBatchNormReduceGetWorkspaceSize, aclnnStatus(*pointer)(cT, T, T, Size, Out));
  SAME(aclnnQuantizedBatchNormGetWorkspaceSize,
       aclnnStatus(*pointer)(cT, cT, cT, cS, cS, cS, cS, T, T, float, T, Size, Out));
  PHASE_TWO(aclnnBatchNorm);
  PHASE_TWO(aclnnBatchNormBackward);
  PHASE_TWO(aclnnFastBatchNormBackward);
  PHASE_TWO(aclnnBatchNormReduceBackward);
  PHASE_TWO(aclnnBatchNormElemt);
  PHASE_TWO(aclnnBatchNormElemtBackward);
  PHASE_TWO(aclnnBatchNormStats);
  PHASE_TWO(aclnnBatchNormGatherStatsWithCounts);
  PHASE_TWO(aclnnSyncBatchNormGatherStats);
  PHASE_TWO(aclnnBatchNormReduce);
  PHASE_TWO(aclnnQuantizedBatchNorm);
}

static void descriptors() {
  SAME(aclCreateTensor, T(*pointer)(const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t, aclFormat,
                                    const int64_t*, uint64_t, void*));
  SAME(aclInitTensor, aclnnStatus(*pointer)(T, const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t,
                                            aclFormat, const int64_t*, uint64_t, void*));
  SAME(aclDestroyTensor, aclnnStatus(*pointer)(cT));
  SAME(aclGetViewShape, aclnnStatus(*pointer)(cT, int64_t**, uint64_t*));
  SAME(aclGetStorageShape, aclnnStatus(*pointer)(cT, int64_t**, uint64_t*));
  SAME(aclGetViewStrides, aclnnStatus(*pointer)(cT, int64_t**, uint64_t*));
  SAME(aclGetViewOffset, aclnnStatus(*pointer)(cT, int64_t*));
  SAME(aclGetFormat, aclnnStatus(*pointer)(cT, aclFormat*));
  SAME(aclGetDataType, aclnnStatus(*pointer)(cT, aclDataType*));
  SAME(aclGetRawTensorAddr, aclnnStatus(*pointer)(cT, void**));
  SAME(aclSetRawTensorAddr, aclnnStatus(*pointer)(T, void*));
  SAME(aclCreateScalar, aclScalar * (*pointer)(void*, aclDataType));
  SAME(aclDestroyScalar, aclnnStatus(*pointer)(cS));
  SAME(aclCreateIntArray, aclIntArray * (*pointer)(const int64_t*, uint64_t));
  SAME(aclDestroyIntArray, aclnnStatus(*pointer)(const aclIntArray*));
  SAME(aclGetIntArraySize, aclnnStatus(*pointer)(const aclIntArray*, uint64_t*));
  SAME(aclCreateFloatArray, aclFloatArray * (*pointer)(const float*, uint64_t));
  SAME(aclDestroyFloatArray, aclnnStatus(*pointer)(const aclFloatArray*));
  SAME(aclGetFloatArraySize, aclnnStatus(*pointer)(const aclFloatArray*, uint64_t*));
  SAME(aclCreateBoolArray, aclBoolArray * (*pointer)(const bool*, uint64_t));
  SAME(aclDestroyBoolArray, aclnnStatus(*pointer)(const aclBoolArray*));
  SAME(aclGetBoolArraySize, aclnnStatus(*pointer)(const aclBoolArray*, uint64_t*));
  SAME(aclCreateTensorList, aclTensorList * (*pointer)(const aclTensor* const*, uint64_t));
  SAME(aclDestroyTensorList, aclnnStatus(*pointer)(const aclTensorList*));
  SAME(aclGetTensorListSize, aclnnStatus(*pointer)(const aclTensorList*, uint64_t*));
  SAME(aclCreateScalarList, aclScalarList * (*pointer)(const aclScalar* const*, uint64_t));
  SAME(aclDestroyScalarList, aclnnStatus(*pointer)(const aclScalarList*));
  SAME(aclGetScalarListSize, aclnnStatus(*pointer)(const aclScalarList*, uint64_t*));
  SAME(aclSetAclOpExecutorRepeatable, aclnnStatus(*pointer)(aclOpExecutor*));
  SAME(aclDestroyAclOpExecutor, aclnnStatus(*pointer)(aclOpExecutor*));
  SAME(aclDestroyOpExecutor, aclnnStatus(*pointer)(aclOpExecutor*));
  SAME(aclSetInputTensorAddr, aclnnStatus(*pointer)(aclOpExecutor*, size_t, T, void*));
  SAME(aclSetOutputTensorAddr, aclnnStatus(*pointer)(aclOpExecutor*, size_t, T, void*));
  SAME(aclSetTensorAddr, aclnnStatus(*pointer)(aclOpExecutor*, size_t, T, void*));
  SAME(AclSetInputTensorAddr, aclnnStatus(*pointer)(aclOpExecutor*, size_t, T, void*));
  SAME(AclSetOutputTensorAddr, aclnnStatus(*pointer)(aclOpExecutor*, size_t, T, void*));
  SAME(AclSetTensorAddr, aclnnStatus(*pointer)(aclOpExecutor*, size_t, T, void*));
  SAME(aclSetDynamicInputTensorAddr,
       aclnnStatus(*pointer)(aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
  SAME(aclSetDynamicOutputTensorAddr,
       aclnnStatus(*pointer)(aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
  SAME(aclSetDynamicTensorAddr, aclnnStatus(*pointer)(aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
  SAME(AclSetDynamicInputTensorAddr,
       aclnnStatus(*pointer)(aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
  SAME(AclSetDynamicOutputTensorAddr,
       aclnnStatus(*pointer)(aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
  SAME(AclSetDynamicTensorAddr, aclnnStatus(*pointer)(aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
  SAME(aclnnInit, aclnnStatus(*pointer)(const char*));
  SAME(aclnnFinalize, aclnnStatus(*pointer)());
}

static void start_and_devices() {
  SAME(aclInit, aclError(*pointer)(const char*));
  SAME(aclFinalize, aclError(*pointer)());
  SAME(aclGetRecentErrMsg, const char* (*pointer)());
  SAME(aclrtGetSocName, const char* (*pointer)());
  SAME(aclFloat16ToFloat, float (*pointer)(aclFloat16));
  SAME(aclFloatToFloat16, aclFloat16(*pointer)(float));
  SAME(aclDataTypeSize, size_t (*pointer)(aclDataType));
  SAME(aclsysGetCANNVersion, aclError(*pointer)(aclCANNPackageName, aclCANNPackageVersion*));
  SAME(aclrtGetVersion, aclError(*pointer)(int32_t*, int32_t*, int32_t*));
  SAME(aclGetCannAttribute, aclError(*pointer)(aclCannAttr, int32_t*));
  SAME(aclGetDeviceCapability, aclError(*pointer)(uint32_t, aclDeviceInfo, int64_t*));
  SAME(aclrtSetDevice, aclError(*pointer)(int32_t));
  SAME(aclrtResetDevice, aclError(*pointer)(int32_t));
  SAME(aclrtResetDeviceForce, aclError(*pointer)(int32_t));
  SAME(aclrtGetDevice, aclError(*pointer)(int32_t*));
  SAME(aclrtGetDeviceCount, aclError(*pointer)(uint32_t*));
  SAME(aclrtSynchronizeDevice, aclError(*pointer)());
  SAME(aclrtSynchronizeDeviceWithTimeout, aclError(*pointer)(int32_t));
  SAME(aclrtQueryDeviceStatus, aclError(*pointer)(int32_t, aclrtDeviceStatus*));
  SAME(aclrtGetDeviceUtilizationRate, aclError(*pointer)(int32_t, aclrtUtilizationInfo*));
  SAME(aclrtGetRunMode, aclError(*pointer)(aclrtRunMode*));
  SAME(aclrtCreateContext, aclError(*pointer)(aclrtContext*, int32_t));
  SAME(aclrtDestroyContext, aclError(*pointer)(aclrtContext));
  SAME(aclrtSetCurrentContext, aclError(*pointer)(aclrtContext));
  SAME(aclrtGetCurrentContext, aclError(*pointer)(aclrtContext*));
  SAME(aclrtSetSysParamOpt, aclError(*pointer)(aclSysParamOpt, int64_t));
  SAME(aclrtGetSysParamOpt, aclError(*pointer)(aclSysParamOpt, int64_t*));
  SAME(aclrtCtxSetSysParamOpt, aclError(*pointer)(aclSysParamOpt, int64_t));
  SAME(aclrtCtxGetSysParamOpt, aclError(*pointer)(aclSysParamOpt, int64_t*));
  SAME(aclrtSetDeviceSatMode, aclError(*pointer)(aclrtFloatOverflowMode));
  SAME(aclrtGetDeviceSatMode, aclError(*pointer)(aclrtFloatOverflowMode*));
  SAME(aclrtGetOverflowStatus, aclError(*pointer)(void*, size_t, aclrtStream));
  SAME(aclrtResetOverflowStatus, aclError(*pointer)(aclrtStream));
  SAME(aclrtSetOpWaitTimeout, aclError(*pointer)(uint32_t));
  SAME(aclrtSetOpExecuteTimeOut, aclError(*pointer)(uint32_t));
  SAME(aclrtSetOpExecuteTimeOutWithMs, aclError(*pointer)(uint32_t));
  SAME(aclrtDeviceCanAccessPeer, aclError(*pointer)(int32_t*, int32_t, int32_t));
  SAME(aclrtDeviceEnablePeerAccess, aclError(*pointer)(int32_t, uint32_t));
  SAME(aclrtDeviceDisablePeerAccess, aclError(*pointer)(int32_t));
  SAME(aclrtPeekAtLastError, aclError(*pointer)(aclrtLastErrLevel));
  SAME(aclrtGetLastError, aclError(*pointer)(aclrtLastErrLevel));
}

static void memory() {
  SAME(aclrtMalloc, aclError(*pointer)(void**, size_t, aclrtMemMallocPolicy));
  SAME(aclrtMallocAlign32, aclError(*pointer)(void**, size_t, aclrtMemMallocPolicy));
  SAME(aclrtMallocCached, aclError(*pointer)(void**, size_t, aclrtMemMallocPolicy));
  SAME(aclrtMallocWithCfg, aclError(*pointer)(void**, size_t, aclrtMemMallocPolicy, aclrtMallocConfig*));
  SAME(aclrtFree, aclError(*pointer)(void*));
  SAME(aclrtMallocHost, aclError(*pointer)(void**, size_t));
  SAME(aclrtMallocHostWithCfg, aclError(*pointer)(void**, uint64_t, aclrtMallocConfig*));
  SAME(aclrtFreeHost, aclError(*pointer)(void*));
  SAME(aclrtMemFlush, aclError(*pointer)(void*, size_t));
  SAME(aclrtMemInvalidate, aclError(*pointer)(void*, size_t));
  SAME(aclrtGetMemInfo, aclError(*pointer)(aclrtMemAttr, size_t*, size_t*));
  SAME(aclrtPointerGetAttributes, aclError(*pointer)(const void*, aclrtPtrAttributes*));
  SAME(aclrtMemcpy, aclError(*pointer)(void*, size_t, const void*, size_t, aclrtMemcpyKind));
  SAME(aclrtMemcpyAsync,
       aclError(*pointer)(void*, size_t, const void*, size_t, aclrtMemcpyKind, aclrtStream));
  SAME(aclrtMemcpy2d,
       aclError(*pointer)(void*, size_t, const void*, size_t, size_t, size_t, aclrtMemcpyKind));
  SAME(aclrtMemcpy2dAsync,
       aclError(*pointer)(void*, size_t, const void*, size_t, size_t, size_t, aclrtMemcpyKind, aclrtStream));
  SAME(aclrtMemset, aclError(*pointer)(void*, size_t, int32_t, size_t));
  SAME(aclrtMemsetAsync, aclError(*pointer)(void*, size_t, int32_t, size_t, aclrtStream));
  SAME(aclrtReserveMemAddress, aclError(*pointer)(void**, size_t, size_t, void*, uint64_t));
  SAME(aclrtReleaseMemAddress, aclError(*pointer)(void*));
  SAME(aclrtMallocPhysical,
       aclError(*pointer)(aclrtDrvMemHandle*, size_t, const aclrtPhysicalMemProp*, uint64_t));
  SAME(aclrtFreePhysical, aclError(*pointer)(aclrtDrvMemHandle));
  SAME(aclrtMapMem, aclError(*pointer)(void*, size_t, size_t, aclrtDrvMemHandle, uint64_t));
  SAME(aclrtUnmapMem, aclError(*pointer)(void*));
  SAME(aclrtMemGetAllocationGranularity,
       aclError(*pointer)(aclrtPhysicalMemProp*, aclrtMemGranularityOptions, size_t*));
}

static void streams_and_events() {
  SAME(aclrtCreateStream, aclError(*pointer)(aclrtStream*));
  SAME(aclrtCreateStreamWithConfig, aclError(*pointer)(aclrtStream*, uint32_t, uint32_t));
  SAME(aclrtDestroyStream, aclError(*pointer)(aclrtStream));
  SAME(aclrtDestroyStreamForce, aclError(*pointer)(aclrtStream));
  SAME(aclrtSynchronizeStream, aclError(*pointer)(aclrtStream));
  SAME(aclrtSynchronizeStreamWithTimeout, aclError(*pointer)(aclrtStream, int32_t));
  SAME(aclrtStreamQuery, aclError(*pointer)(aclrtStream, aclrtStreamStatus*));
  SAME(aclrtStreamWaitEvent, aclError(*pointer)(aclrtStream, aclrtEvent));
  SAME(aclrtStreamGetId, aclError(*pointer)(aclrtStream, int32_t*));
  SAME(aclrtSetStreamFailureMode, aclError(*pointer)(aclrtStream, uint64_t));
  SAME(aclrtCreateEvent, aclError(*pointer)(aclrtEvent*));
  SAME(aclrtCreateEventWithFlag, aclError(*pointer)(aclrtEvent*, uint32_t));
  SAME(aclrtCreateEventExWithFlag, aclError(*pointer)(aclrtEvent*, uint32_t));
  SAME(aclrtDestroyEvent, aclError(*pointer)(aclrtEvent));
  SAME(aclrtRecordEvent, aclError(*pointer)(aclrtEvent, aclrtStream));
  SAME(aclrtResetEvent, aclError(*pointer)(aclrtEvent, aclrtStream));
  SAME(aclrtQueryEvent, aclError(*pointer)(aclrtEvent, aclrtEventStatus*));
  SAME(aclrtQueryEventStatus, aclError(*pointer)(aclrtEvent, aclrtEventRecordedStatus*));
  SAME(aclrtQueryEventWaitStatus, aclError(*pointer)(aclrtEvent, aclrtEventWaitStatus*));
  SAME(aclrtSynchronizeEvent, aclError(*pointer)(aclrtEvent));
  SAME(aclrtSynchronizeEventWithTimeout, aclError(*pointer)(aclrtEvent, int32_t));
  SAME(aclrtEventElapsedTime, aclError(*pointer)(float*, aclrtEvent, aclrtEvent));
}

int main() {
  operators();
  descriptors();
  start_and_devices();
  memory();
  streams_and_events();
  printf("%d functions\n", used);
  return 0;
}
