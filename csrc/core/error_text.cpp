#include "core/error_text.h"

#include <cstring>

namespace bn {
namespace {

struct Recent {
  bnapiStatus status = BNAPI_SUCCESS;
  char text[1024] = "";
};

Recent& recent() {
  thread_local Recent recent;
  return recent;
}

}  // namespace

void set_error(bnapiStatus status, const char* text) noexcept {
  Recent& r = recent();
  r.status = status;
  strncpy(r.text, text, sizeof(r.text) - 1);
}

const char* error_text() noexcept {
  return recent().text;
}

bnapiStatus error_status() noexcept {
  return recent().status;
}

void clear_error() noexcept {
  recent() = Recent();
}

}  // namespace bn
