// The two sums of batch norm's backward pass, per channel: sum(dy) and sum(dy * (x - mean)).
#pragma once

#include "math/sum.h"

namespace bn {

// Sum: double, a vector of doubles, or CompensatedSum of either.
template <class Sum>
struct DyDotXmu {
  Sum dy{};
  Sum dy_xmu{};
};

// Adds one element. Centred before it is multiplied: sum(dy * x) - mean * sum(dy) would cancel.
template <class Sum, class V>
BN_INLINE void add(DyDotXmu<Sum>& sums, V dy, V x, V mean) {
  sums.dy += dy;
  sums.dy_xmu += dy * (x - mean);
}

template <class Sum>
BN_INLINE DyDotXmu<Sum> merge(const DyDotXmu<Sum>& a, const DyDotXmu<Sum>& b) {
  return {plus(a.dy, b.dy), plus(a.dy_xmu, b.dy_xmu)};
}

}  // namespace bn
