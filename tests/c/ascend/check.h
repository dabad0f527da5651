// Expectations for the programs of this folder: each failure is a line, and the program's exit status
// counts them.
#pragma once

#include <cstdio>
#include <cstring>

static int failures = 0;

#define EXPECT(condition)                                            \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

#define EXPECT_CODE(expected, call)                                                                         \
  do {                                                                                                      \
    const int code_ = static_cast<int>(call);                                                               \
    if (code_ != static_cast<int>(expected)) {                                                              \
      printf("%s:%d: %d, expected %d: %s\n", __FILE__, __LINE__, code_, static_cast<int>(expected), #call); \
      ++failures;                                                                                           \
    }                                                                                                       \
  } while (0)

// A failure with this code, and a text for it.
#define EXPECT_ERROR(expected, call)                \
  do {                                              \
    aclGetRecentErrMsg();                           \
    EXPECT_CODE(expected, call);                    \
    const char* text_ = aclGetRecentErrMsg();       \
    EXPECT(text_ != nullptr && strlen(text_) > 20); \
  } while (0)

#define EXPECT_OK(call) EXPECT_CODE(0, call)
