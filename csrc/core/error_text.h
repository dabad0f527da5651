// The thread's recent error text, in a fixed buffer: reporting a failure must not itself fail for lack of
// memory.
#pragma once

#include "bn_api/types.h"

namespace bn {

// Keeps the text for this thread; longer text is cut.
void set_error(bnapiStatus status, const char* text) noexcept;

// The text of this thread's latest failure, "" if there was none.
const char* error_text() noexcept;
bnapiStatus error_status() noexcept;

// Forgets it.
void clear_error() noexcept;

}  // namespace bn
