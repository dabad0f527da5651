// Merges a sequence of partial results as a balanced binary tree, one at a time: rounding grows with the logarithm
// of their number, and the order depends on nothing but that number.
#pragma once

#include "math/inline.h"

namespace bn {

// Part is trivially copyable and has a merge(Part, Part) found by argument-dependent lookup.
template <class Part>
class PairwiseMerger {
 public:
  BN_INLINE PairwiseMerger() {}

  // Back to no parts; also makes a merger of memory that held none.
  BN_INLINE void clear() {
    depth_ = 0;
    count_ = 0;
  }

  BN_INLINE void push(Part part) {
    // Binary counter: after n pushes, stack_ holds one part per set bit of n.
    for (uint64_t n = count_; n & 1; n >>= 1)
      part = merge(stack_[--depth_], part);
    stack_[depth_++] = part;
    ++count_;
  }

  BN_INLINE Part total() const {
    if (depth_ == 0) return Part{};
    Part part = stack_[depth_ - 1];
    for (int i = depth_ - 2; i >= 0; --i)
      part = merge(stack_[i], part);
    return part;
  }

 private:
  static constexpr int kMaxDepth = 40;
  // Left uninitialized: only the lowest levels are ever used, and a merger is made for every channel.
  union {
    Part stack_[kMaxDepth];
  };
  int depth_ = 0;
  uint64_t count_ = 0;
};

}  // namespace bn
