// Errors inside the library: an exception that carries the status and the sentence for the caller. The C entry
// points (api/guard.h) turn it into a return value and the thread's recent error text.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "bn_api/types.h"

namespace bn {

class Error : public std::exception {
 public:
  Error(bnapiStatus status, std::string message) : status_(status), message_(std::move(message)) {}
  bnapiStatus status() const { return status_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  bnapiStatus status_;
  std::string message_;
};

}  // namespace bn
