// Reduce and map on blocks of channels, over either walk of walk.h.
#pragma once

#include "backends/cpu/map_run.h"
#include "backends/cpu/walk.h"

namespace bn::cpu::BN_ISA {

// An array that is not set to zero before it is written.
template <class T, int kCount>
struct Scratch {
  BN_INLINE Scratch() {}
  union {
    T items[kCount];
  };
};

BN_INLINE int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// Folds tiles [first_tile, end_tile) of `channels` channels; parts[c] receives channel c's part.
template <class Reduction, class Walk>
void reduce_block(Walk& walk, const Program& p, const Schedule& s, int64_t channel, int64_t channels,
                  int64_t first_tile, int64_t end_tile, typename Reduction::Part* parts) {
  using Sums = typename Reduction::Sums;
  using Part = typename Reduction::Part;
  Scratch<Sums[kLaneVectors], kMaxBlock> lanes;
  double means[kMaxBlock];
  double centres[kMaxBlock];
  Scratch<PairwiseMerger<Part>, kMaxBlock> mergers;
  const bool one_tile = end_tile - first_tile == 1;
  for (int64_t c = 0; c < channels; ++c) {
    means[c] = p.reduce == Reduce::kDyDotXmu ? reduction_mean(p, channel + c) : 0.0;
    if (!one_tile) mergers.items[c].clear();
  }
  walk.begin(channel, channels);
  int64_t unit = first_tile * s.units_per_tile;
  walk.seek(unit);
  for (int64_t tile = first_tile; tile < end_tile; ++tile) {
    const int64_t end = smaller(unit + s.units_per_tile, s.units);
    double count = 0;
    for (bool first = true; unit < end; ++unit, walk.next(), first = false) {
      walk.read(Reduction::kReads);
      const int64_t length = walk.count();
      count += static_cast<double>(length);
      for (int64_t c = 0; c < channels; ++c) {
        const auto row = walk.row(c);
        if (first) {
          centres[c] = Reduction::centre_of(to_double(*row.x()), means[c]);
          for (int j = 0; j < kLaneVectors; ++j)
            lanes.items[c][j] = Sums{};
        }
        reduce_run<Reduction>(lanes.items[c], row, length, centres[c]);
      }
    }
    for (int64_t c = 0; c < channels; ++c) {
      const Part part = Reduction::part(fold_lanes(lanes.items[c]), count, centres[c]);
      if (one_tile) {
        parts[c] = part;
      } else {
        mergers.items[c].push(part);
      }
    }
  }
  if (one_tile) return;
  for (int64_t c = 0; c < channels; ++c)
    parts[c] = mergers.items[c].total();
}

// Maps units [first_unit, end_unit) of `channels` channels.
template <class Map, class Walk>
void map_block(const Map& map, Walk& walk, const Schedule& s, int64_t channel, int64_t channels,
               int64_t first_unit, int64_t end_unit, const ChannelCoefficients* coefficients) {
  using Elem = typename Walk::Elem;
  Scratch<RunCoefficients<Elem>, kMaxBlock> ready;
  for (int64_t c = 0; c < channels; ++c)
    ready.items[c].set(coefficients[c]);
  walk.begin(channel, channels);
  walk.seek(first_unit);
  for (int64_t unit = first_unit; unit < end_unit; ++unit, walk.next()) {
    walk.read(map.reads());
    const int64_t length = walk.count();
    for (int64_t c = 0; c < channels; ++c)
      map_run(map, walk.row(c), length, ready.items[c], s.stream_out);
    walk.write(map.writes());
  }
}

}  // namespace bn::cpu::BN_ISA
