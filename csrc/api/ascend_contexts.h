// The acl contexts, as the dialect's scope sees them.
#pragma once

#include <cstdint>

namespace bn {
namespace ascend {

// The device of the thread's current context; -1 if it has none.
int32_t current_context_device();

// Ends all contexts and forgets what was kept about streams and events.
void drop_contexts();

// Makes what arrays and lists are kept in, if it is not there yet; throws when memory is short.
void make_lists();
// Releases all arrays and lists.
void drop_lists();

}  // namespace ascend
}  // namespace bn
