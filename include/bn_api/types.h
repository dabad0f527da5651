/* Status codes, data types, formats and the opaque handle types of bn_api.
 *
 * Status, data-type and format values are numerically those of Ascend's aclnn interface, so that a code
 * logged by one stack can be looked up in the documents of the other.
 */
#ifndef BN_API_TYPES_H_
#define BN_API_TYPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BNAPI_EXPORT __attribute__((visibility("default")))
#else
#define BNAPI_EXPORT
#endif

#define BNAPI_VERSION_MAJOR 0
#define BNAPI_VERSION_MINOR 1
#define BNAPI_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* The result of every call: 0, or a code below. bnapiGetRecentErrMsg() holds the sentence that goes with it. */
typedef int32_t bnapiStatus;

/* Operators and executors (the codes of aclnn). */
#define BNAPI_SUCCESS 0
#define BNAPI_ERR_PARAM_NULLPTR 161001         /* a required pointer is null */
#define BNAPI_ERR_PARAM_INVALID 161002         /* dtype, shape, rank, format or relation not allowed */
#define BNAPI_ERR_RUNTIME_ERROR 361001         /* the device runtime refused; a dead or foreign stream */
#define BNAPI_ERR_INNER 561000                 /* internal; a handle that is no executor */
#define BNAPI_ERR_INNER_CREATE_EXECUTOR 561101 /* the executor could not be allocated */
#define BNAPI_ERR_INNER_NULLPTR 561103 /* null or spent executor; a shape only the kernel would refuse */

/* Runtime: devices, memory, streams, events (the codes of the ACL runtime). */
#define BNAPI_ERR_INVALID_PARAM 100000 /* a required pointer is null, a size is 0, an unknown enum value */
#define BNAPI_ERR_REPEAT_INITIALIZE \
  100002                              /* bnapiInit while initialized: harmless, clients treat it as success */
#define BNAPI_ERR_INVALID_FILE 100003 /* the configuration file cannot be read */
#define BNAPI_ERR_REPEAT_FINALIZE 100037     /* bnapiFinalize twice */
#define BNAPI_ERR_RT_PARAM_INVALID 107000    /* count > destMax, timeout < -1, foreign memory, dead context */
#define BNAPI_ERR_RT_INVALID_DEVICEID 107001 /* no such device */
#define BNAPI_ERR_RT_CONTEXT_NULL 107002     /* no device is current on this thread (acl names only) */
#define BNAPI_ERR_RT_STREAM_CONTEXT 107003   /* the stream belongs to another device */
#define BNAPI_ERR_RT_EVENT_TIMESTAMP_INVALID 107006  /* an event of the pair was never recorded */
#define BNAPI_ERR_RT_EVENT_TIMESTAMP_REVERSAL 107007 /* end was recorded before start */
#define BNAPI_ERR_RT_INVALID_HANDLE 107017           /* a dead, foreign or made-up stream or event */
#define BNAPI_ERR_RT_SYSPARAMOPT_NOT_SET 107021
#define BNAPI_ERR_RT_FEATURE_NOT_SUPPORT 207000
#define BNAPI_ERR_RT_MEMORY_ALLOCATION 207001 /* out of memory */
#define BNAPI_ERR_RT_NO_DEVICE 207004         /* no such backend in this build, or no driver */
#define BNAPI_ERR_RT_INTERNAL_ERROR 507000
#define BNAPI_ERR_RT_CONTEXT_RELEASE 507007  /* a device was reset more often than set */
#define BNAPI_ERR_RT_DEVICE_EXCEPTION 507015 /* a kernel faulted */
#define BNAPI_ERR_RT_STREAM_SYNC_TIMEOUT 507046
#define BNAPI_ERR_RT_EVENT_SYNC_TIMEOUT 507047

typedef enum bnapiDataType {
  BNAPI_DT_UNDEFINED = -1,
  BNAPI_FLOAT = 0,
  BNAPI_FLOAT16 = 1,
  BNAPI_INT8 = 2,
  BNAPI_INT32 = 3,
  BNAPI_UINT8 = 4,
  BNAPI_INT16 = 6,
  BNAPI_UINT16 = 7,
  BNAPI_UINT32 = 8,
  BNAPI_INT64 = 9,
  BNAPI_UINT64 = 10,
  BNAPI_DOUBLE = 11,
  BNAPI_BOOL = 12,
  BNAPI_COMPLEX64 = 16,
  BNAPI_COMPLEX128 = 17,
  BNAPI_BF16 = 27
} bnapiDataType;

/* The label of a tensor's axes. It says where the channel axis is where an operator asks; strides are
 * independent of it. Private formats (NC1HWC0 and the like) have values too, and are refused by operators. */
typedef enum bnapiFormat {
  BNAPI_FORMAT_UNDEFINED = -1,
  BNAPI_FORMAT_NCHW = 0,
  BNAPI_FORMAT_NHWC = 1,
  BNAPI_FORMAT_ND = 2,
  BNAPI_FORMAT_HWCN = 16,
  BNAPI_FORMAT_NDHWC = 27,
  BNAPI_FORMAT_NCDHW = 30,
  BNAPI_FORMAT_NC = 35,
  BNAPI_FORMAT_NCL = 47
} bnapiFormat;

/* What bnapiBatchNormAct applies last. */
typedef enum bnapiActivation { BNAPI_ACTIVATION_IDENTITY = 0, BNAPI_ACTIVATION_RELU = 1 } bnapiActivation;

/* Opaque handles. Their values are not addresses: a dead or made-up handle is recognised, never followed. */
typedef struct bnapiTensor bnapiTensor;
typedef struct bnapiScalar bnapiScalar;
typedef struct bnapiBoolArray bnapiBoolArray;
typedef struct bnapiOpExecutor bnapiOpExecutor;
typedef struct bnapiStream_* bnapiStream;
typedef struct bnapiEvent_* bnapiEvent;

#ifdef __cplusplus
}
#endif
#endif /* BN_API_TYPES_H_ */
