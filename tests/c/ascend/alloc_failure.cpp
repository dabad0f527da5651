// Every function of the Ascend layer that takes memory of its own, with its N-th allocation failing, for every N
// until it succeeds: the status for it and a text, nothing lost, and the same call right afterwards.

#include "../robust/failing_memory.h"

// (after the replaced operators)
#include <functional>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "check.h"

using failing_memory::Armed;
using failing_memory::live;

namespace {

struct Case {
  const char* name;
  int out_of_memory;           // the status for it; kNull: a null object
  std::function<int()> call;   // kNull for a null object
  std::function<void()> undo;  // after success
};

const int kNull = -1;

template <class Object>
int made(Object* object) {
  return object == nullptr ? kNull : 0;
}

aclrtStream stream;
aclrtContext context;
aclrtEvent event;
aclIntArray* ints;
aclTensorList* list;
aclTensor* tensor;
void* memory;
const int64_t kValues[2] = {2, 3};
int allocations_failed = 0;

const Case kCases[] = {
    {"aclrtSetDevice", ACL_ERROR_RT_MEMORY_ALLOCATION, [] { return aclrtSetDevice(0); },
     [] { EXPECT_OK(aclrtResetDevice(0)); }},
    {"aclrtSetDevice, the first", ACL_ERROR_RT_MEMORY_ALLOCATION,
     [] {
       // Undone and done again: the context is made anew.
       const aclError status = aclrtResetDeviceForce(0);
       return status != 0 ? status : aclrtSetDevice(0);
     },
     [] {}},
    {"aclrtGetDevice", ACL_ERROR_RT_MEMORY_ALLOCATION,
     [] {
       int32_t device;
       return aclrtGetDevice(&device);
     },
     [] {}},
    {"aclrtCreateContext", ACL_ERROR_RT_MEMORY_ALLOCATION, [] { return aclrtCreateContext(&context, 0); },
     [] {
       EXPECT_OK(aclrtDestroyContext(context));
       EXPECT_OK(aclrtSetDevice(0));
       EXPECT_OK(aclrtResetDevice(0));
     }},
    {"aclrtCreateStream", ACL_ERROR_RT_MEMORY_ALLOCATION, [] { return aclrtCreateStream(&stream); },
     [] { EXPECT_OK(aclrtDestroyStream(stream)); }},
    {"aclrtSetStreamOverflowSwitch", ACL_ERROR_RT_MEMORY_ALLOCATION,
     [] {
       aclrtStream fresh;
       aclError status = aclrtCreateStream(&fresh);
       if (status != 0) return status;
       status = aclrtSetStreamOverflowSwitch(fresh, 1);
       const aclError destroyed = aclrtDestroyStream(fresh);
       return status != 0 ? status : destroyed;
     },
     [] {}},
    {"aclrtCreateEvent", ACL_ERROR_RT_MEMORY_ALLOCATION, [] { return aclrtCreateEvent(&event); },
     [] { EXPECT_OK(aclrtDestroyEvent(event)); }},
    {"aclrtCreateEventExWithFlag", ACL_ERROR_RT_MEMORY_ALLOCATION,
     [] { return aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC); },
     [] { EXPECT_OK(aclrtDestroyEvent(event)); }},
    {"aclrtMalloc", ACL_ERROR_RT_MEMORY_ALLOCATION,
     [] { return aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST); },
     [] { EXPECT_OK(aclrtFree(memory)); }},
    {"aclrtMallocHost", ACL_ERROR_RT_MEMORY_ALLOCATION, [] { return aclrtMallocHost(&memory, 64); },
     [] { EXPECT_OK(aclrtFreeHost(memory)); }},
    {"aclrtSynchronizeDeviceWithTimeout", ACL_ERROR_RT_MEMORY_ALLOCATION,
     [] { return aclrtSynchronizeDeviceWithTimeout(1000); }, [] {}},
    {"aclCreateTensor", kNull,
     [] {
       tensor = aclCreateTensor(kValues, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, kValues, 2, nullptr);
       return made(tensor);
     },
     [] { EXPECT_OK(aclDestroyTensor(tensor)); }},
    {"aclCreateIntArray", kNull,
     [] {
       ints = aclCreateIntArray(kValues, 2);
       return made(ints);
     },
     [] { EXPECT_OK(aclDestroyIntArray(ints)); }},
    {"aclCreateTensorList", kNull,
     [] {
       const aclTensor* none[2] = {nullptr, nullptr};
       list = aclCreateTensorList(none, 2);
       return made(list);
     },
     [] { EXPECT_OK(aclDestroyTensorList(list)); }},
};

void try_case(const Case& c) {
  // Once without a failure, so that what is kept for later is there.
  EXPECT_OK(c.call());
  c.undo();
  for (int n = 1; n < 100; ++n) {
    aclGetRecentErrMsg();
    const int64_t before = live;
    int status;
    bool spent;
    {
      const Armed armed(n);
      status = c.call();
      spent = Armed::spent();
    }
    if (!spent) {
      EXPECT_OK(status);
      c.undo();
      return;
    }
    ++allocations_failed;
    if (status != c.out_of_memory) printf("%s, allocation %d:\n", c.name, n);
    EXPECT_CODE(c.out_of_memory, status);
    const char* text = aclGetRecentErrMsg();
    EXPECT(text != nullptr && strstr(text, "memory") != nullptr);
    // A failed first set leaves the thread without a device, as it was.
    int32_t device;
    if (aclrtGetDevice(&device) != 0) {
      EXPECT_OK(aclrtSetDevice(0));
    } else if (live != before) {
      printf("%s, allocation %d: %lld objects more than before\n", c.name, n,
             static_cast<long long>(live - before));
      ++failures;
    }
    EXPECT_OK(c.call());
    c.undo();
  }
  printf("%s: no end of allocations\n", c.name);
  ++failures;
}

}  // namespace

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  for (const Case& c : kCases)
    try_case(c);
  EXPECT_OK(aclFinalize());
  printf("%d allocations failed in turn\n", allocations_failed);
  EXPECT(allocations_failed > 30);  // the operators were replaced indeed
  return failures == 0 ? 0 : 1;
}
