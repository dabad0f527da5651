// Sums that keep their rounding error (Knuth's TwoSum), for float64 data, whose plain float64 sum would lose digits.
#pragma once

#include "math/inline.h"

namespace bn {

// V is double or a vector of doubles. `error` collects, exactly, what each addition to `value` rounded away.
// Infinities and NaN: value() falls back to the plain sum, whose meaning they have.
template <class V>
struct CompensatedSum {
  V value{};
  V error{};

  BN_INLINE void operator+=(V x) {
    const V sum = value + x;
    const V part = sum - value;
    error += (value - (sum - part)) + (x - part);
    value = sum;
  }
};

// The sum of two sums.
template <class V>
BN_INLINE V plus(V a, V b) {
  return a + b;
}

template <class V>
BN_INLINE CompensatedSum<V> plus(CompensatedSum<V> a, CompensatedSum<V> b) {
  a += b.value;
  a.error += b.error;
  return a;
}

template <class V>
BN_INLINE V total(V sum) {
  return sum;
}

template <class V>
BN_INLINE V total(CompensatedSum<V> sum) {
  const V both = sum.value + sum.error;
  return both == both ? both : sum.value;  // inf - inf in the error must not turn an infinite sum into NaN
}

}  // namespace bn
