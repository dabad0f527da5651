// The reductions in terms of vectors: what one vector of elements adds to its lanes, and what becomes of the lanes.
//
// A reduction is a struct with
//     Sums          the running sums of one vector of lanes; Folded, of one channel, all lanes together
//     Parts         what tiles of a vector of channels give, and merge to; Part, of one channel
//     add()         adds one vector of elements
//     centre_of()   what is subtracted from x, given the tile's first element and the channel's mean
//     part()        the part of a tile; of a vector of channels, or of one
//     set(), lane() one channel's place in a vector of channels
//     totals()      what finalize is given
#pragma once

#include "backends/cpu/schedule.h"
#include "backends/cpu/simd.h"
#include "math/dy_dot_xmu.h"
#include "math/finalize.h"
#include "math/moments.h"
#include "math/pairwise.h"
#include "math/sums.h"

namespace bn::cpu::BN_ISA {

inline constexpr int kLaneVectors = kLanes / kDoubles;

// Where a run of elements begins in each tensor.
template <class Elem>
struct Pointers {
  Elem* at[kTensors];

  BN_INLINE const Elem* x() const { return at[kX]; }
  BN_INLINE const Elem* dy() const { return at[kDy]; }
  BN_INLINE const Elem* extra() const { return at[kExtra]; }
};

// How far ahead of its use data is asked for. The processor's own prefetching stops at each page and row.
inline constexpr int64_t kPrefetchBytes = 2048;
template <class Elem>
inline constexpr int64_t kAhead = kPrefetchBytes / static_cast<int64_t>(sizeof(Elem));

template <class Elem>
BN_INLINE void prefetch_for(unsigned reads, const Pointers<Elem>& p, int64_t i) {
#pragma GCC unroll 8
  for (int t = 0; t < kTensors; ++t) {
    // Integer arithmetic: the address may lie past the end of the tensor, where prefetching does nothing.
    const uintptr_t address = reinterpret_cast<uintptr_t>(p.at[t]) + static_cast<uintptr_t>(i) * sizeof(Elem);
    if (reads >> t & 1) __builtin_prefetch(reinterpret_cast<const void*>(address));
  }
}

// A run of consecutive elements of one channel, and the one that follows it.
template <class Elem>
struct Run {
  Pointers<Elem> at;
  Pointers<Elem> next;
  int64_t count;
};

// Calls step(i) for i = begin, begin + kStep, ... as long as a whole step is left, each time with the data asked for
// that will be wanted kAhead elements later, in this run or the next; returns the first i that is left.
template <int kStep, class Elem, class Step>
BN_INLINE int64_t for_steps(unsigned reads, const Run<Elem>& run, int64_t begin, Step step) {
  int64_t i = begin;
  for (; i + kStep + kAhead<Elem> <= run.count; i += kStep) {
    prefetch_for(reads, run.at, i + kAhead<Elem>);
    step(i);
  }
  for (; i + kStep <= run.count; i += kStep) {
    prefetch_for(reads, run.next, i + kAhead<Elem> - run.count);
    step(i);
  }
  return i;
}

template <class Elem>
struct ReduceMoments {
  using Sum = typename SumOf<Elem, VD>::type;
  using Sums = ShiftedSums<Sum>;
  using Folded = ShiftedSums<typename SumOf<Elem, double>::type>;
  using Part = Moments;
  using Parts = MomentsOf<VD>;
  static constexpr unsigned kReads = 1u << kX;

  template <class Lanes>
  BN_INLINE static void add(Sums& sums, const Pointers<Elem>& p, int64_t i, VD shift, Lanes lanes) {
    bn::add(sums, load_f64(p.x() + i, lanes), shift);
  }
  template <class V>
  BN_INLINE static V centre_of(V first, V) {
    return tile_shift(first);
  }
  template <class S>
  BN_INLINE static auto part(const ShiftedSums<S>& sums, double count, decltype(total(S{})) shift) {
    return moments_of_tile(count, shift, total(sums.deviation), total(sums.square));
  }
  BN_INLINE static void set(Sums& sums, int i, const Folded& one) {
    set_element(sums.deviation, i, one.deviation);
    set_element(sums.square, i, one.square);
  }
  BN_INLINE static void set(Parts& parts, int i, const Part& one) {
    parts.count = one.count;
    parts.mean[i] = one.mean;
    parts.m2[i] = one.m2;
  }
  BN_INLINE static TotalsOf<VD> totals(const Parts& parts) { return {parts, {}, {}}; }
  BN_INLINE static Part lane(const Parts& parts, int i) { return {parts.count, parts.mean[i], parts.m2[i]}; }
};

template <class Elem>
struct ReduceSums {
  using Sum = typename SumOf<Elem, VD>::type;
  using Sums = RawSums<Sum>;
  using Folded = RawSums<typename SumOf<Elem, double>::type>;
  using Part = Folded;
  using Parts = Sums;
  static constexpr unsigned kReads = 1u << kX;

  template <class Lanes>
  BN_INLINE static void add(Sums& sums, const Pointers<Elem>& p, int64_t i, VD, Lanes lanes) {
    bn::add(sums, load_f64(p.x() + i, lanes));
  }
  template <class V>
  BN_INLINE static V centre_of(V, V) {
    return V{};
  }
  template <class S, class V>
  BN_INLINE static RawSums<S> part(const RawSums<S>& sums, double, V) {
    return sums;
  }
  BN_INLINE static void set(Sums& sums, int i, const Folded& one) {
    set_element(sums.value, i, one.value);
    set_element(sums.square, i, one.square);
  }
  BN_INLINE static TotalsOf<VD> totals(const Parts& parts) {
    return {{}, {}, {total(parts.value), total(parts.square)}};
  }
  BN_INLINE static Part lane(const Parts& parts, int i) {
    return {element(parts.value, i), element(parts.square, i)};
  }
};

// kMasked: dy counts only where `extra` is above 0.
template <class Elem, bool kMasked>
struct ReduceDyDotXmu {
  using Sum = typename SumOf<Elem, VD>::type;
  using Sums = DyDotXmu<Sum>;
  using Folded = DyDotXmu<typename SumOf<Elem, double>::type>;
  using Part = Folded;
  using Parts = Sums;
  static constexpr unsigned kReads = 1u << kX | 1u << kDy | (kMasked ? 1u << kExtra : 0u);

  template <class Lanes>
  BN_INLINE static void add(Sums& sums, const Pointers<Elem>& p, int64_t i, VD mean, Lanes lanes) {
    VD dy = load_f64(p.dy() + i, lanes);
    if constexpr (kMasked) dy = load_f64(p.extra() + i, lanes) > 0.0 ? dy : VD{};
    bn::add(sums, dy, load_f64(p.x() + i, lanes), mean);
  }
  template <class V>
  BN_INLINE static V centre_of(V, V mean) {
    return mean;
  }
  template <class S, class V>
  BN_INLINE static DyDotXmu<S> part(const DyDotXmu<S>& sums, double, V) {
    return sums;
  }
  BN_INLINE static void set(Sums& sums, int i, const Folded& one) {
    set_element(sums.dy, i, one.dy);
    set_element(sums.dy_xmu, i, one.dy_xmu);
  }
  BN_INLINE static TotalsOf<VD> totals(const Parts& parts) {
    return {{}, {total(parts.dy), total(parts.dy_xmu)}, {}};
  }
  BN_INLINE static Part lane(const Parts& parts, int i) {
    return {element(parts.dy, i), element(parts.dy_xmu, i)};
  }
};

// ---- sixteen lanes to one ------------------------------------------------------------------------------------

// Lane i and lane i + half, again and again: the same tree on every instruction set.
BN_INLINE double fold_vector(Vec<double, 2> x) {
  return x[0] + x[1];
}
BN_INLINE double fold_vector(Vec<double, 4> x) {
  return fold_vector(__builtin_shufflevector(x, x, 0, 1) + __builtin_shufflevector(x, x, 2, 3));
}
BN_INLINE double fold_vector(Vec<double, 8> x) {
  return fold_vector(__builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7));
}

BN_INLINE double fold(const VD (&lanes)[kLaneVectors]) {
  VD v[kLaneVectors];
#pragma GCC unroll 16
  for (int j = 0; j < kLaneVectors; ++j)
    v[j] = lanes[j];
#pragma GCC unroll 16
  for (int width = kLaneVectors / 2; width > 0; width /= 2) {
#pragma GCC unroll 16
    for (int j = 0; j < width; ++j)
      v[j] = v[j] + v[j + width];
  }
  return fold_vector(v[0]);
}

BN_INLINE CompensatedSum<double> fold(const CompensatedSum<VD> (&lanes)[kLaneVectors]) {
  CompensatedSum<double> a[kLanes];
  for (int i = 0; i < kLanes; ++i)
    a[i] = element(lanes[i / kDoubles], i % kDoubles);
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i)
      a[i] = plus(a[i], a[i + width]);
  }
  return a[0];
}

template <class Sum>
BN_INLINE auto fold_lanes(const ShiftedSums<Sum> (&lanes)[kLaneVectors]) {
  Sum deviation[kLaneVectors], square[kLaneVectors];
  for (int j = 0; j < kLaneVectors; ++j) {
    deviation[j] = lanes[j].deviation;
    square[j] = lanes[j].square;
  }
  return ShiftedSums<decltype(fold(deviation))>{fold(deviation), fold(square)};
}

template <class Sum>
BN_INLINE auto fold_lanes(const RawSums<Sum> (&lanes)[kLaneVectors]) {
  Sum value[kLaneVectors], square[kLaneVectors];
  for (int j = 0; j < kLaneVectors; ++j) {
    value[j] = lanes[j].value;
    square[j] = lanes[j].square;
  }
  return RawSums<decltype(fold(value))>{fold(value), fold(square)};
}

template <class Sum>
BN_INLINE auto fold_lanes(const DyDotXmu<Sum> (&lanes)[kLaneVectors]) {
  Sum dy[kLaneVectors], dy_xmu[kLaneVectors];
  for (int j = 0; j < kLaneVectors; ++j) {
    dy[j] = lanes[j].dy;
    dy_xmu[j] = lanes[j].dy_xmu;
  }
  return DyDotXmu<decltype(fold(dy))>{fold(dy), fold(dy_xmu)};
}

// ---- one run of a channel ------------------------------------------------------------------------------------

// Adds a run to the lanes: element i goes to lane i % 16, but in whole groups of 16 bfloat16 elements those at even
// places come first.
template <class Reduction, class Elem>
BN_INLINE void reduce_run(typename Reduction::Sums (&lanes)[kLaneVectors], const Run<Elem>& run,
                          double centre) {
  const VD centres = broadcast(centre);
  constexpr int kHalf = kLaneVectors / 2;
  const int64_t i = for_steps<kLanes>(Reduction::kReads, run, 0, [&](int64_t at) {
    if constexpr (std::is_same<Elem, BFloat16>::value) {
#pragma GCC unroll 16
      for (int j = 0; j < kHalf; ++j) {
        Reduction::add(lanes[j], run.at, at + 2 * j * kDoubles, centres, Even{});
        Reduction::add(lanes[j + kHalf], run.at, at + 2 * j * kDoubles, centres, Odd{});
      }
    } else {
#pragma GCC unroll 16
      for (int j = 0; j < kLaneVectors; ++j)
        Reduction::add(lanes[j], run.at, at + j * kDoubles, centres, Whole{});
    }
  });
  if (i < run.count) {
    // Lanes past the end see zeros and a zero centre: they add nothing.
#pragma GCC unroll 16
    for (int j = 0; j < kLaneVectors; ++j) {
      const int64_t rest = run.count - i - j * kDoubles;
      Reduction::add(lanes[j], run.at, i + j * kDoubles, keep_first(centres, rest), First{rest});
    }
  }
}

}  // namespace bn::cpu::BN_ISA
