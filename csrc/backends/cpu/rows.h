// Reduce and map on blocks of channels, over either walk of walk.h.
#pragma once

#include "backends/cpu/map_joined.h"
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

// Units of a row that are summed before their tiles are merged.
inline constexpr int64_t kUnitsTogether = 4;

// Folds tiles [first_tile, end_tile) of `channels` channels; parts[v] receives what the v-th vector of them has.
template <class Reduction, class Walk>
void reduce_block(Walk& walk, const Program& p, const Schedule& s, int64_t channel, int64_t channels,
                  int64_t first_tile, int64_t end_tile, typename Reduction::Parts* parts) {
  using Sums = typename Reduction::Sums;
  using Parts = typename Reduction::Parts;
  constexpr int kVectors = kMaxBlock / kDoubles;
  Scratch<Sums[kLaneVectors], kMaxBlock> lanes;  // of tiles that go on
  double means[kMaxBlock] = {};
  double centres[kUnitsTogether][kMaxBlock];
  Scratch<typename Reduction::Folded[kMaxBlock], kUnitsTogether> folded;
  int64_t counts[kUnitsTogether] = {};  // elements of each channel in the tile
  Scratch<PairwiseMerger<Parts>, kVectors> mergers;
  const bool one_tile = end_tile - first_tile == 1;
  const int64_t vectors = (channels + kDoubles - 1) / kDoubles;
  if (p.reduce == Reduce::kDyDotXmu) load_means(p, channel, channels, means);
  for (int64_t v = 0; v < vectors && !one_tile; ++v)
    mergers.items[v].clear();
  walk.begin(channel, channels);
  int64_t unit = first_tile * s.units_per_tile;
  const int64_t end_unit = smaller(end_tile * s.units_per_tile, s.units);
  walk.seek(unit);
  int64_t in_tile = 0;  // units of this tile so far; rows of several units are several tiles
  while (unit < end_unit) {
    // A channel's row is read on before the next channel's.
    const int64_t units = walk.read(Reduction::kReads, smaller(end_unit - unit, kUnitsTogether));
    const bool ends_tile = in_tile + 1 == s.units_per_tile || unit + units == end_unit;
    auto row = walk.first(units, Reduction::kReads);
    for (int64_t u = 0; u < units; ++u)
      counts[u] = (in_tile == 0 ? 0 : counts[u]) + unit_of(row, u, s.unit_length).count;
    for (int64_t c = 0; c < channels; ++c, walk.to_channel(row, c, Reduction::kReads)) {
      for (int64_t u = 0; u < units; ++u) {
        const auto run = unit_of(row, u, s.unit_length);
        Sums local[kLaneVectors] = {};
        if (in_tile == 0) {
          centres[u][c] = Reduction::centre_of(to_double(*run.at.x()), means[c]);
        } else {
          memcpy(static_cast<void*>(local), lanes.items[c], sizeof(local));
        }
        reduce_run<Reduction>(local, run, centres[u][c]);
        if (ends_tile) {
          folded.items[u][c] = fold_lanes(local);
        } else {
          memcpy(static_cast<void*>(lanes.items[c]), local, sizeof(local));
        }
      }
    }
    for (int64_t u = 0; u < units && ends_tile; ++u) {
      for (int64_t v = 0; v < vectors; ++v) {
        Sums sums{};
        VD centre{};
        for (int64_t i = 0; i < smaller(kDoubles, channels - v * kDoubles); ++i) {
          Reduction::set(sums, static_cast<int>(i), folded.items[u][v * kDoubles + i]);
          centre[i] = centres[u][v * kDoubles + i];
        }
        const Parts part = Reduction::part(sums, static_cast<double>(counts[u]), centre);
        if (one_tile) {
          parts[v] = part;
        } else {
          mergers.items[v].push(part);
        }
      }
    }
    walk.next(units);
    unit += units;
    if (++in_tile == s.units_per_tile) in_tile = 0;
  }
  for (int64_t v = 0; v < vectors && !one_tile; ++v)
    parts[v] = mergers.items[v].total();
}

// Maps units [first_unit, end_unit) of `channels` channels.
template <bool kStream, class Map, class Walk>
__attribute__((noinline)) void map_block(const Map& map, Walk& walk, const Schedule& s, int64_t channel,
                                         int64_t channels, int64_t first_unit, int64_t end_unit,
                                         const CoefficientPlanes& coefficients) {
  MapCoefficients<typename Walk::Elem, kMaxBlock> ready;
  ready.set(coefficients, channels);
  const unsigned used = map.reads() | map.writes();
  const bool join = s.joined_rows && ready.all_fit;
  walk.begin(channel, channels);
  walk.seek(first_unit);
  for (int64_t unit = first_unit; unit < end_unit;) {
    const int64_t units = walk.read(map.reads(), end_unit - unit);
    auto row = walk.first(units, used);
    if (join) {
      map_joined<kStream>(map, row.at, ready, s.unit_length, channels);
    } else {
      for (int64_t c = 0; c < channels; ++c, walk.to_channel(row, c, used))
        map_run<kStream>(map, row, ready, c);
    }
    walk.write(map.writes());
    walk.next(units);
    unit += units;
  }
}

}  // namespace bn::cpu::BN_ISA
