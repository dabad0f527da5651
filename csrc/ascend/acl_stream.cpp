// acl/acl_rt.h: streams and events.

#include "acl/acl_rt.h"
#include "ascend/forward.h"

namespace {

constexpr int32_t kFailureMode = 0;  // a stream's note; acl_device.cpp has number 1

bnapiEvent neutral_event(aclrtEvent event) {
  return static_cast<bnapiEvent>(event);
}

aclError create_event(const AscendCall& call, aclrtEvent* event, uint32_t flag, bool extended) {
  constexpr uint32_t kKnown = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE |
                              ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC;
  if (event == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "event: null");
  const bool external = (flag & ACL_EVENT_EXTERNAL) != 0;
  if ((flag & ~kKnown) != 0 || (external && flag != ACL_EVENT_EXTERNAL)) {
    return call.fail(ACL_ERROR_RT_PARAM_INVALID, "flag: expected ACL_EVENT_ bits, ACL_EVENT_EXTERNAL alone");
  }
  bnapiEvent created = nullptr;
  const int32_t status = bnapiAscendCreateEvent(&created, extended);
  if (status == ACL_SUCCESS) *event = created;
  return call.done(status);
}

aclError create_stream(const AscendCall& call, aclrtStream* stream) {
  if (stream == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "stream: null");
  bnapiStream created = nullptr;
  const int32_t status = bnapiAscendCreateStream(&created);
  if (status == ACL_SUCCESS) *stream = created;
  return call.done(status);
}

// Asks whether an event has happened. Null pointers are 100000, before anything else.
aclError query_event(const AscendCall& call, aclrtEvent event, const void* status_place, bool* complete) {
  if (status_place == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "status: null");
  return call.done(bnapiAscendQueryEvent(neutral_event(event), complete));
}

}  // namespace

extern "C" {

// ---- streams --------------------------------------------------------------------------------------------

aclError aclrtCreateStream(aclrtStream* stream) {
  return create_stream(AscendCall(__func__), stream);
}

// Priority and flags are hints.
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
  return create_stream(AscendCall(__func__), stream);
}

aclError aclrtDestroyStream(aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiAscendDestroyStream(static_cast<bnapiStream>(stream)));
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiAscendDestroyStream(static_cast<bnapiStream>(stream)));
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiSynchronizeStream(call.stream(stream)));
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  AscendCall call(__func__);
  return call.done(bnapiSynchronizeStreamWithTimeout(call.stream(stream), timeout));
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  AscendCall call(__func__);
  if (status == nullptr) return call.fail(ACL_ERROR_INVALID_PARAM, "status: null");
  bool complete = false;
  const int32_t result = bnapiStreamQuery(call.stream(stream), &complete);
  if (result == ACL_SUCCESS) *status = complete ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return call.done(result);
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  AscendCall call(__func__);
  return call.done(bnapiStreamWaitEvent(call.stream(stream), neutral_event(event)));
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  AscendCall call(__func__);
  return call.done(bnapiAscendStreamId(call.stream(stream), streamId));
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  AscendCall call(__func__);
  if (mode > ACL_STOP_ON_FAILURE) return call.fail(ACL_ERROR_INVALID_PARAM, "mode: expected 0 or 1");
  return call.done(bnapiAscendSetStreamNote(call.stream(stream), kFailureMode, mode));
}

// ---- events ---------------------------------------------------------------------------------------------

aclError aclrtCreateEvent(aclrtEvent* event) {
  return create_event(AscendCall(__func__), event, 0, false);
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return create_event(AscendCall(__func__), event, flag, false);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return create_event(AscendCall(__func__), event, flag, true);
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  AscendCall call(__func__);
  return call.done(bnapiAscendDestroyEvent(neutral_event(event)));
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  AscendCall call(__func__);
  return call.done(bnapiRecordEvent(neutral_event(event), call.stream(stream)));
}

// Recording again moves the mark, which is all that a reset is for.
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  AscendCall call(__func__);
  int32_t status = bnapiAscendRequirePlainEvent(neutral_event(event));
  bool complete;
  if (status == ACL_SUCCESS) status = bnapiStreamQuery(call.stream(stream), &complete);
  return call.done(status);
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  AscendCall call(__func__);
  bool complete = false;
  aclError result = query_event(call, event, status, &complete);
  if (result != ACL_SUCCESS) return result;
  result = call.done(bnapiAscendRequirePlainEvent(neutral_event(event)));
  if (result == ACL_SUCCESS) *status = complete ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  return result;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  AscendCall call(__func__);
  bool complete = false;
  const aclError result = query_event(call, event, status, &complete);
  if (result == ACL_SUCCESS) {
    *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  }
  return result;
}

// Whoever waits for an event is let through when it happens.
aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  AscendCall call(__func__);
  bool complete = false;
  aclError result = query_event(call, event, status, &complete);
  if (result != ACL_SUCCESS) return result;
  result = call.done(bnapiAscendRequirePlainEvent(neutral_event(event)));
  if (result == ACL_SUCCESS)
    *status = complete ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
  return result;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  AscendCall call(__func__);
  return call.done(bnapiSynchronizeEvent(neutral_event(event)));
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  AscendCall call(__func__);
  return call.done(bnapiSynchronizeEventWithTimeout(neutral_event(event), timeout));
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  AscendCall call(__func__);
  return call.done(bnapiEventElapsedTime(ms, neutral_event(startEvent), neutral_event(endEvent)));
}

}  // extern "C"
