// Expectations: each failure is a line, and the program's exit status says whether there was one. May be used from
// any thread.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstring>

#include "bn_api.h"

namespace check {

inline std::atomic<int>& failures() {
  static std::atomic<int> count{0};
  return count;
}

inline void is_true(bool condition, const char* file, int line, const char* text) {
  if (condition) return;
  ++failures();
  fprintf(stderr, "%s:%d: not so: %s\n", file, line, text);
}

inline bool is_status(bnapiStatus expected, bnapiStatus status, const char* file, int line,
                      const char* text) {
  if (status == expected) return true;
  ++failures();
  fprintf(stderr, "%s:%d: %d (%s), expected %d (%s): %s\n    message: %s\n", file, line, status,
          bnapiStatusName(status), expected, bnapiStatusName(expected), text, bnapiGetRecentErrMsg());
  return false;
}

// The status, and a message that has all of the words in it.
template <class... Words>
void is_refused(bnapiStatus expected, bnapiStatus status, const char* file, int line, const char* text,
                Words... words) {
  if (!is_status(expected, status, file, line, text)) return;
  const char* message = bnapiGetRecentErrMsg();
  for (const char* word : {words...}) {
    if (strstr(message, word) != nullptr) continue;
    ++failures();
    fprintf(stderr, "%s:%d: %s\n    message without \"%s\": %s\n", file, line, text, word, message);
  }
}

// What main() returns.
inline int result() {
  if (failures() == 0) return 0;
  fprintf(stderr, "%d expectations failed\n", failures().load());
  return 1;
}

}  // namespace check

#define CHECK(condition) check::is_true((condition), __FILE__, __LINE__, #condition)
#define CHECK_STATUS(expected, call) check::is_status((expected), (call), __FILE__, __LINE__, #call)
#define CHECK_OK(call) check::is_status(BNAPI_SUCCESS, (call), __FILE__, __LINE__, #call)
#define CHECK_REFUSED(expected, call, ...) \
  check::is_refused((expected), (call), __FILE__, __LINE__, #call, __VA_ARGS__)
