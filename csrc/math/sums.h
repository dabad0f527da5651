// Raw sums of a channel: sum(x) and sum(x^2), not centred.
#pragma once

#include "math/sum.h"

namespace bn {

template <class Sum>
struct RawSums {
  Sum value{};
  Sum square{};
};

template <class Sum, class V>
BN_INLINE void add(RawSums<Sum>& sums, V x) {
  sums.value += x;
  sums.square += x * x;
}

template <class Sum>
BN_INLINE RawSums<Sum> merge(const RawSums<Sum>& a, const RawSums<Sum>& b) {
  return {plus(a.value, b.value), plus(a.square, b.square)};
}

}  // namespace bn
