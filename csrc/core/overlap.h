// Does a strided view address an element twice?
#pragma once

#include <cstdint>

namespace bn {

// `extents` are not negative and no address overflows. Exact, except that a view so irregular that the search
// would take long (no real one is) counts as overlapping.
bool addresses_twice(int rank, const int64_t* extents, const int64_t* strides);

}  // namespace bn
