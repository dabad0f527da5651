// Failing allocations in the functions that serve the Ascend forwarders.

#include "alloc_failure.h"
#include "api/ascend_support.h"

namespace alloc_failure {
namespace {

// Each call is made as a forwarder makes it: inside the dialect's scope.
class Scope {
 public:
  Scope() { bnapiAscendEnter(); }
  ~Scope() { bnapiAscendLeave(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

void set_device(Fixture&) {
  const Scope scope;
  CHECK_OK(bnapiAscendSetDevice(0));
}

void reset_device(Fixture&) {
  const Scope scope;
  CHECK_OK(bnapiAscendResetDevice(0, true));
  bnapiAscendTakeErrorText();
}

void make_stream(Fixture& f) {
  set_device(f);
  const Scope scope;
  CHECK_OK(bnapiAscendCreateStream(&f.stream));
}

void drop_stream(Fixture& f) {
  {
    const Scope scope;
    CHECK_OK(bnapiAscendDestroyStream(f.stream));
  }
  reset_device(f);
}

void make_event(Fixture& f) {
  set_device(f);
  const Scope scope;
  CHECK_OK(bnapiAscendCreateEvent(&f.event, true));
}

void make_plain_event(Fixture& f) {
  set_device(f);
  const Scope scope;
  CHECK_OK(bnapiAscendCreateEvent(&f.event, false));
}

void drop_event(Fixture& f) {
  {
    const Scope scope;
    CHECK_OK(bnapiAscendDestroyEvent(f.event));
  }
  reset_device(f);
}

void make_context(Fixture& f) {
  set_device(f);
  const Scope scope;
  CHECK_OK(bnapiAscendCreateContext(&f.memory, 0));
}

void drop_context(Fixture& f) {
  {
    const Scope scope;
    CHECK_OK(bnapiAscendDestroyContext(f.memory));
  }
  reset_device(f);
}

void make_list(Fixture& f) {
  const int64_t values[3] = {1, 2, 3};
  const Scope scope;
  f.memory = bnapiAscendCreateList(BNAPI_ASCEND_INTS, values, 3);
  CHECK(f.memory != nullptr);
}

void drop_list(Fixture& f) {
  const Scope scope;
  CHECK_OK(bnapiAscendDestroyList(BNAPI_ASCEND_INTS, f.memory));
}

// A case of the scope: `call` runs inside it.
Case within(const char* name, std::function<void(Fixture&)> before, bnapiStatus (*call)(Fixture&),
            std::function<void(Fixture&)> after_success, std::function<void(Fixture&)> after_failure) {
  const auto inside = [call](Fixture& f) {
    const Scope scope;
    return call(f);
  };
  return {name, BNAPI_ERR_RT_MEMORY_ALLOCATION, before, inside, after_success, after_failure};
}

// One that leaves things as they are.
Case reading(const char* name, std::function<void(Fixture&)> before, bnapiStatus (*call)(Fixture&),
             std::function<void(Fixture&)> after) {
  return within(name, before, call, after, after);
}

}  // namespace

std::vector<Case> ascend_cases() {
  std::vector<Case> cases = {
      within(
          "AscendSetDevice", nothing, [](Fixture&) { return bnapiAscendSetDevice(0); }, reset_device,
          nothing),
      within(
          "AscendResetDevice", set_device, [](Fixture&) { return bnapiAscendResetDevice(0, false); }, nothing,
          reset_device),
      within(
          "AscendCreateContext", set_device,
          [](Fixture& f) { return bnapiAscendCreateContext(&f.memory, 0); }, drop_context, reset_device),
      within(
          "AscendDestroyContext", make_context,
          [](Fixture& f) { return bnapiAscendDestroyContext(f.memory); }, reset_device, drop_context),
      within(
          "AscendCreateStream", set_device, [](Fixture& f) { return bnapiAscendCreateStream(&f.stream); },
          drop_stream, reset_device),
      within(
          "AscendDestroyStream", make_stream, [](Fixture& f) { return bnapiAscendDestroyStream(f.stream); },
          reset_device, drop_stream),
      within(
          "AscendCreateEvent", set_device, [](Fixture& f) { return bnapiAscendCreateEvent(&f.event, true); },
          drop_event, reset_device),
      within(
          "AscendDestroyEvent", make_event, [](Fixture& f) { return bnapiAscendDestroyEvent(f.event); },
          reset_device, drop_event),
      reading(
          "AscendQueryEvent", make_event,
          [](Fixture& f) {
            bool complete = false;
            return bnapiAscendQueryEvent(f.event, &complete);
          },
          drop_event),
      reading(
          "AscendRequirePlainEvent", make_plain_event,
          [](Fixture& f) { return bnapiAscendRequirePlainEvent(f.event); }, drop_event),
      reading(
          "AscendGetDeviceCount", nothing,
          [](Fixture&) {
            uint32_t count = 0;
            return bnapiAscendGetDeviceCount(&count);
          },
          nothing),
      reading(
          "AscendCheckDevice", nothing, [](Fixture&) { return bnapiAscendCheckDevice(0); }, nothing),
      reading(
          "AscendGetDevice", set_device,
          [](Fixture&) {
            int32_t device = -1;
            return bnapiAscendGetDevice(&device);
          },
          reset_device),
      reading(
          "AscendSynchronizeDevice", make_stream, [](Fixture&) { return bnapiAscendSynchronizeDevice(1000); },
          drop_stream),
      reading(
          "AscendSetCurrentContext", make_context,
          [](Fixture& f) { return bnapiAscendSetCurrentContext(f.memory); }, drop_context),
      reading(
          "AscendGetCurrentContext", set_device,
          [](Fixture&) {
            void* context = nullptr;
            return bnapiAscendGetCurrentContext(&context);
          },
          reset_device),
      reading(
          "AscendRequireContext", set_device, [](Fixture&) { return bnapiAscendRequireContext(); },
          reset_device),
      reading(
          "AscendLocate", set_device,
          [](Fixture& f) {
            int32_t device = -1;
            return bnapiAscendLocate(f.to.data(), &device);
          },
          reset_device),
      reading(
          "AscendStreamId", make_stream,
          [](Fixture& f) {
            int32_t id = -1;
            return bnapiAscendStreamId(f.stream, &id);
          },
          drop_stream),
      reading(
          "AscendStream", set_device,
          [](Fixture&) { return bnapiSynchronizeStream(bnapiAscendStream(nullptr)); }, reset_device),
      reading(
          "AscendGetStreamNote", make_stream,
          [](Fixture& f) {
            uint64_t value = 0;
            return bnapiAscendGetStreamNote(f.stream, 1, &value);
          },
          drop_stream),
      reading(
          "AscendSetStreamNote", make_stream,
          [](Fixture& f) { return bnapiAscendSetStreamNote(f.stream, 1, 7); }, drop_stream),
      reading(
          "AscendSetOption", make_context, [](Fixture&) { return bnapiAscendSetOption(true, 1, 7); },
          drop_context),
      reading(
          "AscendGetOption", nothing,
          [](Fixture&) {
            int64_t value = 0;
            return bnapiAscendGetOption(false, 12345, 7, &value);
          },
          nothing),
      reading(
          "AscendGetListSize", make_list,
          [](Fixture& f) {
            uint64_t size = 0;
            return bnapiAscendGetListSize(BNAPI_ASCEND_INTS, f.memory, &size);
          },
          drop_list),
      within(
          "AscendDestroyList", make_list,
          [](Fixture& f) { return bnapiAscendDestroyList(BNAPI_ASCEND_INTS, f.memory); }, nothing, drop_list),
  };
  // A failure reported under an acl name is told from its text: what does that must not need memory.
  cases.push_back(reading(
      "a failure under an acl name", nothing,
      [](Fixture&) {
        const bnapiStatus status = bnapiAscendFail(BNAPI_ERR_INNER, "aclrtMalloc: size: too much memory");
        CHECK_STATUS(status, bnapiAscendFailure());
        CHECK_STATUS(status, bnapiAscendReport(status, "aclrtMalloc"));
        CHECK_STATUS(status, bnapiAscendLastError(true));
        CHECK(bnapiAscendTakeErrorText() != nullptr);
        return BNAPI_SUCCESS;
      },
      nothing));
  cases.push_back(within(
      "AscendFinalize",
      [](Fixture& f) {
        make_stream(f);
        CHECK_OK(bnapiInit(nullptr));
      },
      [](Fixture&) { return bnapiAscendFinalize(); },
      [](Fixture& f) {
        f.small.create();
        f.large.create();
      },
      drop_stream));
  cases.push_back({"AscendCreateList", kNull, nothing,
                   [](Fixture& f) {
                     const Scope scope;
                     const int64_t values[3] = {1, 2, 3};
                     f.memory = bnapiAscendCreateList(BNAPI_ASCEND_INTS, values, 3);
                     return f.memory == nullptr ? kNull : BNAPI_SUCCESS;
                   },
                   drop_list, nothing});
  return cases;
}

}  // namespace alloc_failure
