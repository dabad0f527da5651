// The map stage where rows are short and those of neighbouring channels follow each other in memory, as in contiguous
// 7x7 images: the rows of a block of channels are one run. Mapped one by one, each would end in a part of a vector,
// and none of its stores would be aligned.
#pragma once

#include "backends/cpu/map_run.h"

namespace bn::cpu::BN_ISA {

// a in the lanes where `mask` holds, b in the others.
template <class Mask, class V>
BN_INLINE Coefficients<V> choose(Mask mask, const Coefficients<V>& a, const Coefficients<V>& b) {
  return {mask ? a.mean_hi : b.mean_hi, mask ? a.mean_lo : b.mean_lo, mask ? a.scale : b.scale,
          mask ? a.shift : b.shift,     mask ? a.offset : b.offset,   mask ? a.slope : b.slope};
}

// The place in a step of each lane's element: `first`, and `apart` more from lane to lane.
template <class V>
BN_INLINE auto places(int first, int apart) {
  constexpr int kLanesOf = static_cast<int>(sizeof(V) / sizeof(V{}[0]));
  using Place = std::conditional_t<sizeof(V{}[0]) == 8, int64_t, int32_t>;
  Vec<Place, kLanesOf> at;
  for (int i = 0; i < kLanesOf; ++i)
    at[i] = static_cast<Place>(first + i * apart);
  return at;
}

// Coefficients of a step whose first `before` elements are channel c's, the others the next one's.
template <class Elem, int kCount>
BN_INLINE auto border_coefficients(const MapCoefficients<Elem, kCount>& k, int64_t c, int before) {
  using V = typename ComputeOf<Elem>::Vector;
  const Coefficients<V> here = k.in_all_lanes(c);
  const Coefficients<V> there = k.in_all_lanes(c + 1);
  StepCoefficients<Elem, V> step;
  if constexpr (kPaired<Elem>) {
    step.k = choose(places<V>(0, 2) < before, here, there);
    step.odd = choose(places<V>(1, 2) < before, here, there);
  } else {
    step.k = choose(places<V>(0, 1) < before, here, there);
  }
  return step;
}

// Elements [begin, end), fewer than a step has.
template <class Map, class Elem, int kCount>
BN_INLINE void map_part(const Map& map, const Pointers<Elem>& p, const MapCoefficients<Elem, kCount>& k,
                        int64_t length, int64_t begin, int64_t end) {
  constexpr int64_t kWidth = sizeof(Elem) == 8 ? kDoubles : kFloats;
  for (int64_t i = begin; i < end;) {
    const int64_t c = i / length;
    int64_t count = (c + 1) * length - i;
    if (count > end - i) count = end - i;
    if (count > kWidth) count = kWidth;
    map_tail(map, p, i, count, k.in_all_lanes(c));
    i += count;
  }
}

// Rows of `length` elements (at least a step) of `channels` channels, without gaps. All coefficients fit.
template <bool kStream, class Map, class Elem, int kCount>
BN_INLINE void map_joined(const Map& map, const Pointers<Elem>& p, const MapCoefficients<Elem, kCount>& k,
                          int64_t length, int64_t channels) {
  using V = typename ComputeOf<Elem>::Vector;
  constexpr int64_t kElements = kStep<Elem>;
  constexpr uintptr_t kStoreBytes = kElements * sizeof(Elem);
  const int64_t count = length * channels;
  const uintptr_t past = reinterpret_cast<uintptr_t>(p.at[kOut]) % kStoreBytes;
  int64_t i = past == 0 ? 0 : static_cast<int64_t>((kStoreBytes - past) / sizeof(Elem));
  map_part(map, p, k, length, 0, i);
  for (int64_t c = 0, end = length; c < channels; ++c, end += length) {
    StepCoefficients<Elem, V> step;
    step.k = k.in_all_lanes(c);
    if constexpr (kPaired<Elem>) step.odd = step.k;
    for (; i + kElements <= end; i += kElements) {
      prefetch_for(map.reads(), p, i + kAhead<Elem>);
      map_step<kStream>(map, p, i, step);
    }
    if (i < end && i + kElements <= count) {
      prefetch_for(map.reads(), p, i + kAhead<Elem>);
      map_step<kStream>(map, p, i, border_coefficients(k, c, static_cast<int>(end - i)));
      i += kElements;
    }
  }
  map_part(map, p, k, length, i, count);
}

}  // namespace bn::cpu::BN_ISA
