// What the Ascend forwarders (csrc/ascend) need beyond the neutral API. All state of that layer lives
// behind these functions, in libbn_api.so: the forwarding libraries exist several times over and must not
// hold any.
//
// Not for other callers; it may change with the forwarders, which are built and shipped together with this
// library. Every function returns a status of bn_api/types.h and leaves the sentence for it, as the neutral
// functions do.
#pragma once

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- the dialect ----------------------------------------------------------------------------------------

// Around every call through an acl or aclnn name. Inside, the library speaks for aclnn: float64 is refused,
// messages use the acl names, the current device is the one of the thread's acl context, and without one
// whatever needs a device is BNAPI_ERR_RT_CONTEXT_NULL. What the thread has current under the neutral names
// is untouched.
BNAPI_EXPORT void bnapiAscendEnter(void);
BNAPI_EXPORT void bnapiAscendLeave(void);

// Stores `text` as the thread's error text and returns `status`.
BNAPI_EXPORT bnapiStatus bnapiAscendFail(bnapiStatus status, const char* text);
// Passes on the result of `function`. A failure is added to the thread's pending texts and becomes its last
// error.
BNAPI_EXPORT bnapiStatus bnapiAscendReport(bnapiStatus status, const char* function);
// The status of the failure that left the thread's error text: for functions that only return a null pointer.
BNAPI_EXPORT bnapiStatus bnapiAscendFailure(void);
// The pending texts, which are forgotten; null if there are none. Valid until the thread's next call.
BNAPI_EXPORT const char* bnapiAscendTakeErrorText(void);
BNAPI_EXPORT bnapiStatus bnapiAscendLastError(bool forget);

// Ends everything, contexts too.
BNAPI_EXPORT bnapiStatus bnapiAscendFinalize(void);

// ---- devices and contexts: acl device ids, GPUs only if there are any -----------------------------------

BNAPI_EXPORT bnapiStatus bnapiAscendGetDeviceCount(uint32_t* count);
BNAPI_EXPORT bnapiStatus bnapiAscendCheckDevice(int32_t device);
BNAPI_EXPORT bnapiStatus bnapiAscendSetDevice(int32_t device);
BNAPI_EXPORT bnapiStatus bnapiAscendResetDevice(int32_t device, bool force);
BNAPI_EXPORT bnapiStatus bnapiAscendGetDevice(int32_t* device);
BNAPI_EXPORT bnapiStatus bnapiAscendSynchronizeDevice(int32_t timeout_ms);
BNAPI_EXPORT bnapiStatus bnapiAscendCreateContext(void** context, int32_t device);
BNAPI_EXPORT bnapiStatus bnapiAscendDestroyContext(void* context);
BNAPI_EXPORT bnapiStatus bnapiAscendSetCurrentContext(void* context);
BNAPI_EXPORT bnapiStatus bnapiAscendGetCurrentContext(void** context);
// BNAPI_ERR_RT_CONTEXT_NULL on a thread without a context.
BNAPI_EXPORT bnapiStatus bnapiAscendRequireContext(void);
// Where an address is: *device is the acl id of a device's memory, -1 for host memory.
BNAPI_EXPORT bnapiStatus bnapiAscendLocate(const void* address, int32_t* device);

// Options by number, of the process (default 0) or of the current context (no default). `key` also serves
// settings that are only kept to be read back; those are negative.
BNAPI_EXPORT bnapiStatus bnapiAscendSetOption(bool of_context, int32_t key, int64_t value);
BNAPI_EXPORT bnapiStatus bnapiAscendGetOption(bool of_context, int32_t key, int64_t otherwise,
                                              int64_t* value);

// ---- streams and events ---------------------------------------------------------------------------------

// The stream to use: null is the default stream of the current context.
BNAPI_EXPORT bnapiStream bnapiAscendStream(void* stream);
BNAPI_EXPORT bnapiStatus bnapiAscendCreateStream(bnapiStream* stream);
BNAPI_EXPORT bnapiStatus bnapiAscendDestroyStream(bnapiStream stream);
BNAPI_EXPORT bnapiStatus bnapiAscendStreamId(bnapiStream stream, int32_t* id);
// A number kept with a stream; 0 until it is set.
BNAPI_EXPORT bnapiStatus bnapiAscendSetStreamNote(bnapiStream stream, int32_t key, uint64_t value);
BNAPI_EXPORT bnapiStatus bnapiAscendGetStreamNote(bnapiStream stream, int32_t key, uint64_t* value);

// `extended`: complete until first recorded; others are not ready until then.
BNAPI_EXPORT bnapiStatus bnapiAscendCreateEvent(bnapiEvent* event, bool extended);
BNAPI_EXPORT bnapiStatus bnapiAscendDestroyEvent(bnapiEvent event);
BNAPI_EXPORT bnapiStatus bnapiAscendQueryEvent(bnapiEvent event, bool* complete);
// BNAPI_ERR_RT_PARAM_INVALID for an extended event: some functions refuse those.
BNAPI_EXPORT bnapiStatus bnapiAscendRequirePlainEvent(bnapiEvent event);

// ---- arrays and lists -----------------------------------------------------------------------------------

typedef enum bnapiAscendListType {
  BNAPI_ASCEND_INTS = 0,     // int64_t
  BNAPI_ASCEND_FLOATS = 1,   // float
  BNAPI_ASCEND_TENSORS = 2,  // bnapiTensor*, owned
  BNAPI_ASCEND_SCALARS = 3   // bnapiScalar*, owned
} bnapiAscendListType;

// Copies `size` values; none for a null pointer. Null without memory.
BNAPI_EXPORT void* bnapiAscendCreateList(bnapiAscendListType type, const void* values, uint64_t size);
// Destroys the members of tensor and scalar lists too. Null is fine.
BNAPI_EXPORT bnapiStatus bnapiAscendDestroyList(bnapiAscendListType type, const void* list);
BNAPI_EXPORT bnapiStatus bnapiAscendGetListSize(bnapiAscendListType type, const void* list, uint64_t* size);

#ifdef __cplusplus
}
#endif
