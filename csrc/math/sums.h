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

BN_INLINE RawSums<double> merge(const RawSums<double>& a, const RawSums<double>& b) {
  return {a.value + b.value, a.square + b.square};
}

}  // namespace bn
