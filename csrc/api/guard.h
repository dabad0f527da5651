// The boundary: C++ inside, statuses outside. Every extern "C" function that can fail runs its body in
// guard().
#pragma once

#include <exception>
#include <new>

#include "core/error_text.h"
#include "core/status.h"

namespace bn {

inline bnapiStatus fail(bnapiStatus status, const char* text) noexcept {
  set_error(status, text);
  return status;
}

// Runs the body; an exception becomes its status and the thread's error text. `out_of_memory` is the status
// for an allocation that failed.
template <class Body>
bnapiStatus guard(bnapiStatus out_of_memory, Body&& body) noexcept {
  try {
    body();
    return BNAPI_SUCCESS;
  } catch (const Error& error) {
    return fail(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(out_of_memory, "out of host memory");
  } catch (const std::exception& error) {
    return fail(BNAPI_ERR_INNER, error.what());
  } catch (...) {
    return fail(BNAPI_ERR_INNER, "unknown exception");
  }
}

template <class Body>
bnapiStatus guard(Body&& body) noexcept {
  return guard(BNAPI_ERR_RT_MEMORY_ALLOCATION, static_cast<Body&&>(body));
}

}  // namespace bn
