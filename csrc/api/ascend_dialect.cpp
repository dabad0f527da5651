// The Ascend dialect: its scope, and its error texts.

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "api/ascend_contexts.h"
#include "api/ascend_support.h"
#include "api/guard.h"
#include "core/error_text.h"
#include "core/runtime.h"

namespace bn {
namespace {

// A thread's failures since it last asked, in fixed buffers: reporting one must not fail for lack of memory.
struct Failures {
  char pending[4096] = "";
  char taken[4096] = "";
  size_t pending_size = 0;
  bnapiStatus last = BNAPI_SUCCESS;
  int32_t outer_device = -1;  // what the neutral names have current, outside of the scope
};

Failures& failures() {
  thread_local Failures failures;
  return failures;
}

const char* label(bnapiStatus status) {
  switch (status) {
    case BNAPI_ERR_PARAM_NULLPTR:
    case BNAPI_ERR_PARAM_INVALID:
      return "AclNN_Parameter_Error(EZ1001)";
    case BNAPI_ERR_RUNTIME_ERROR:
      return "AclNN_Runtime_Error(EZ9903)";
    default:
      if (status >= 561000 && status < 562000) return "AclNN_Inner_Error(EZ9999)";
      return status < 500000 ? "Invalid_Argument(EE1001)" : "Inner_Error(EE9999)";
  }
}

// Does a text begin with the name of a neutral function, rather than of a parameter? Those have a capital,
// or are the verb of the acl name ("destroy" of aclDestroyTensor).
bool is_function_name(const char* text, size_t size, const char* function) {
  if (isupper(static_cast<unsigned char>(text[0]))) return true;
  for (const char* at = function; *at != '\0'; ++at) {
    if (strncasecmp(at, text, size) == 0) return true;
  }
  return false;
}

// "Malloc: ptr: null" of the neutral function behind aclrtMalloc reads "aclrtMalloc: ptr: null"; texts that
// start with an acl name already stay as they are.
void print_sentence(char* to, size_t room, const char* function, const char* text) {
  const char* colon = strstr(text, ": ");
  const size_t head = colon != nullptr ? static_cast<size_t>(colon - text) : 0;
  if (head > 0 && strncmp(text, "acl", 3) == 0) {
    snprintf(to, room, "%s", text);
  } else if (head > 0 && is_function_name(text, head, function)) {
    snprintf(to, room, "%s%s", function, colon);
  } else {
    snprintf(to, room, "%s: %s", function, text);
  }
}

// "[PID: 7] 2026-01-31-10:20:30.123.456 AclNN_Parameter_Error(EZ1001): <sentence>" and a newline.
void add_pending(bnapiStatus status, const char* function, const char* text) {
  char sentence[1280];
  print_sentence(sentence, sizeof(sentence), function, text);
  const auto now = std::chrono::system_clock::now();
  const time_t seconds = std::chrono::system_clock::to_time_t(now);
  const int64_t micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() % 1000000;
  struct tm broken_down;
  localtime_r(&seconds, &broken_down);
  char stamp[32];
  strftime(stamp, sizeof(stamp), "%Y-%m-%d-%H:%M:%S", &broken_down);
  char line[1536];
  const int length = snprintf(line, sizeof(line), "[PID: %d] %s.%03d.%03d %s: %s [%d]\n",
                              static_cast<int>(getpid()), stamp, static_cast<int>(micros / 1000),
                              static_cast<int>(micros % 1000), label(status), sentence, status);
  Failures& f = failures();
  const size_t size = std::min(static_cast<size_t>(std::max(length, 0)), sizeof(line) - 1);
  // Older texts make room for newer ones.
  if (f.pending_size + size + 1 > sizeof(f.pending)) f.pending_size = 0;
  memcpy(f.pending + f.pending_size, line, size + 1);
  f.pending_size += size;
}

}  // namespace
}  // namespace bn

extern "C" {

void bnapiAscendEnter(void) {
  bn::ThreadState& thread = bn::thread_state();
  if (thread.ascend_depth++ > 0) return;
  bn::failures().outer_device = thread.device;
  thread.device = bn::ascend::current_context_device();
}

void bnapiAscendLeave(void) {
  bn::ThreadState& thread = bn::thread_state();
  if (--thread.ascend_depth > 0) return;
  thread.device = bn::failures().outer_device;
}

bnapiStatus bnapiAscendFail(bnapiStatus status, const char* text) {
  return bn::fail(status, text);
}

bnapiStatus bnapiAscendReport(bnapiStatus status, const char* function) {
  if (status == BNAPI_SUCCESS) return status;
  bn::failures().last = status;
  bn::add_pending(status, function, bn::error_status() == status ? bn::error_text() : "failed");
  return status;
}

bnapiStatus bnapiAscendFailure(void) {
  return bn::error_status() != BNAPI_SUCCESS ? bn::error_status() : BNAPI_ERR_INNER;
}

const char* bnapiAscendTakeErrorText(void) {
  bn::Failures& f = bn::failures();
  if (f.pending_size == 0) return nullptr;
  memcpy(f.taken, f.pending, f.pending_size + 1);
  f.pending_size = 0;
  return f.taken;
}

bnapiStatus bnapiAscendLastError(bool forget) {
  const bnapiStatus last = bn::failures().last;
  if (forget) bn::failures().last = BNAPI_SUCCESS;
  return last;
}

}  // extern "C"
