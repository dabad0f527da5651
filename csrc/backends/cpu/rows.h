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

// The u-th unit of a row.
template <class Elem>
BN_INLINE Run<Elem> unit_of(const Run<Elem>& row, int64_t u, int64_t length) {
  const int64_t begin = u * length;
  Run<Elem> run = row;
  for (int t = 0; t < kTensors; ++t)
    run.at.at[t] = row.at.at[t] + begin;
  if (row.count - begin <= length) {
    run.count = row.count - begin;
    return run;
  }
  run.count = length;
  for (int t = 0; t < kTensors; ++t)
    run.next.at[t] = run.at.at[t] + length;
  return run;
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
  int64_t counts[kMaxBlock];
  Scratch<PairwiseMerger<Part>, kMaxBlock> mergers;
  const bool one_tile = end_tile - first_tile == 1;
  for (int64_t c = 0; c < channels; ++c) {
    means[c] = p.reduce == Reduce::kDyDotXmu ? reduction_mean(p, channel + c) : 0.0;
    if (!one_tile) mergers.items[c].clear();
  }
  walk.begin(channel, channels);
  int64_t unit = first_tile * s.units_per_tile;
  const int64_t end_unit = smaller(end_tile * s.units_per_tile, s.units);
  walk.seek(unit);
  int64_t in_tile = 0;  // units of this tile so far; rows of several units are several tiles
  while (unit < end_unit) {
    // A channel's row is read to its end before the next channel's.
    const int64_t units = walk.read(Reduction::kReads, end_unit - unit);
    const bool ends_tile = in_tile + 1 == s.units_per_tile || unit + units == end_unit;
    auto row = walk.first(units, Reduction::kReads);
    for (int64_t c = 0; c < channels; ++c, walk.to_channel(row, c, Reduction::kReads)) {
      for (int64_t u = 0; u < units; ++u) {
        const auto run = unit_of(row, u, s.unit_length);
        if (in_tile == 0) {
          centres[c] = Reduction::centre_of(to_double(*run.at.x()), means[c]);
          counts[c] = 0;
          for (int j = 0; j < kLaneVectors; ++j)
            lanes.items[c][j] = Sums{};
        }
        reduce_run<Reduction>(lanes.items[c], run, centres[c]);
        counts[c] += run.count;
        if (!ends_tile) continue;
        const Part part =
            Reduction::part(fold_lanes(lanes.items[c]), static_cast<double>(counts[c]), centres[c]);
        if (one_tile) {
          parts[c] = part;
        } else {
          mergers.items[c].push(part);
        }
      }
    }
    walk.next(units);
    unit += units;
    if (++in_tile == s.units_per_tile) in_tile = 0;
  }
  if (one_tile) return;
  for (int64_t c = 0; c < channels; ++c)
    parts[c] = mergers.items[c].total();
}

// Maps units [first_unit, end_unit) of `channels` channels.
template <bool kStream, class Map, class Walk>
__attribute__((noinline)) void map_block(const Map& map, Walk& walk, int64_t channel, int64_t channels,
                                         int64_t first_unit, int64_t end_unit,
                                         const ChannelCoefficients* coefficients) {
  using Elem = typename Walk::Elem;
  Scratch<RunCoefficients<Elem>, kMaxBlock> ready;
  for (int64_t c = 0; c < channels; ++c)
    ready.items[c].set(coefficients[c]);
  const unsigned used = map.reads() | map.writes();
  walk.begin(channel, channels);
  walk.seek(first_unit);
  for (int64_t unit = first_unit; unit < end_unit;) {
    const int64_t units = walk.read(map.reads(), end_unit - unit);
    auto row = walk.first(units, used);
    for (int64_t c = 0; c < channels; ++c, walk.to_channel(row, c, used))
      map_run<kStream>(map, row, ready.items[c]);
    walk.write(map.writes());
    walk.next(units);
    unit += units;
  }
}

}  // namespace bn::cpu::BN_ISA
