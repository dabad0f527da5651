// Reduce and map where channels are contiguous: vectors run over channels ("columns"), one lane each.
//
// Where there are few channels and positions are dense, s.repeat positions side by side make one row, so that
// vectors are full: column v then belongs to channel v % channels, and s.remainder positions are left over.
#pragma once

#include "backends/cpu/map_run.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/walk.h"

namespace bn::cpu::BN_ISA {

// Vectors of columns whose sums are held in registers while positions are walked.
inline constexpr int kGroup = kVectorBytes == 64 ? 8 : 4;
// Rows are taken in strips: a group of columns goes through a strip before the next group does. The strip of a row of
// many groups is short, so that memory is read nearly in order.
inline constexpr int64_t kMapStrip = 32;
inline constexpr int64_t kLeastAhead = 4;
inline constexpr int64_t kNarrowBytes = 512;  // a row that takes few groups

// So many rows ahead of its use data is asked for, in rows of `columns` columns: kPrefetchBytes, or a few rows.
template <class Elem>
BN_INLINE int64_t rows_ahead(int64_t columns) {
  const int64_t rows = kAhead<Elem> / columns;
  return rows < kLeastAhead ? kLeastAhead : (rows < kMapStrip ? rows : kMapStrip);
}

// Offsets of `count` rows, the first of them being the next to be used.
struct Rows {
  const int64_t (*offsets)[kTensors];
  int64_t count;

  BN_INLINE Rows from(int64_t row) const { return {offsets + row, count - row}; }
  BN_INLINE const int64_t* ahead(int64_t row, int64_t rows) const {
    return offsets[row + rows < count ? row + rows : count - 1];
  }
};

template <class Elem>
BN_INLINE Pointers<Elem> row_at(const Pointers<Elem>& base, const int64_t* offsets, int64_t column) {
  Pointers<Elem> row;
  for (int t = 0; t < kTensors; ++t)
    row.at[t] = base.at[t] + offsets[t] + column;
  return row;
}

template <class Elem>
BN_INLINE Pointers<Elem> columns_base(const Program& p, const Schedule& s, int64_t channel) {
  Pointers<Elem> base;
  for (int t = 0; t < kTensors; ++t)
    base.at[t] = reinterpret_cast<Elem*>(channel_address(p, s, t, channel));
  return base;
}

// Adds the first `count` rows of kVectors vectors of columns.
template <class Reduction, int kVectors, class Elem>
BN_INLINE void add_rows(typename Reduction::Sums* sums, const VD* centres, const Pointers<Elem>& base,
                        const Rows& rows, int64_t count, int64_t column, int64_t ahead) {
  typename Reduction::Sums local[kVectors];
  for (int j = 0; j < kVectors; ++j)
    local[j] = sums[j];
  for (int64_t u = 0; u < count; ++u) {
    const auto row = row_at(base, rows.offsets[u], column);
    const auto soon = row_at(base, rows.ahead(u, ahead), column);
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
      constexpr int kBytes = kDoubles * static_cast<int>(sizeof(Elem));
      if (j * kBytes % 64 == 0) prefetch_for(Reduction::kReads, soon, j * kDoubles);
      Reduction::add(local[j], row, j * kDoubles, centres[j], Whole{});
    }
  }
  for (int j = 0; j < kVectors; ++j)
    sums[j] = local[j];
}

// The same for the last, partial vector.
template <class Reduction, class Elem>
BN_INLINE void add_rows_tail(typename Reduction::Sums& sums, VD centre, const Pointers<Elem>& base,
                             const int64_t (*offsets)[kTensors], int64_t count, int64_t column, int columns) {
  for (int64_t u = 0; u < count; ++u)
    Reduction::add(sums, row_at(base, offsets[u], column), 0, keep_first(centre, columns), First{columns});
}

// Up to kColumnBlock columns and their sums.
template <class Reduction, class Elem>
class ColumnSums {
 public:
  using Sums = typename Reduction::Sums;
  using Part = typename Reduction::Part;
  using Parts = typename Reduction::Parts;

  BN_INLINE ColumnSums(const Pointers<Elem>& base, int64_t columns, const double* means)
      : base_(base), columns_(columns), vectors_((columns + kDoubles - 1) / kDoubles), means_(means) {}

  // Folds the rows at the given offsets into the columns' parts.
  BN_INLINE void tile(const int64_t (*offsets)[kTensors], int64_t count, Parts* parts) {
    start(offsets[0]);
    const int64_t whole = columns_ / kDoubles;
    const int64_t ahead = rows_ahead<Elem>(columns_);
    const int64_t strip = vectors_ <= kGroup ? count : ahead;
    for (int64_t u = 0; u < count; u += strip) {
      const Rows rows = Rows{offsets, count}.from(u);
      const int64_t now = smaller(strip, rows.count);
      int64_t j = 0;
      for (; j + kGroup <= whole; j += kGroup)
        add_rows<Reduction, kGroup>(&sums_.items[j], &centres_.items[j], base_, rows, now, j * kDoubles,
                                    ahead);
      for (; j + 2 <= whole; j += 2)
        add_rows<Reduction, 2>(&sums_.items[j], &centres_.items[j], base_, rows, now, j * kDoubles, ahead);
      for (; j < whole; ++j)
        add_rows<Reduction, 1>(&sums_.items[j], &centres_.items[j], base_, rows, now, j * kDoubles, ahead);
      if (j < vectors_)
        add_rows_tail<Reduction>(sums_.items[j], centres_.items[j], base_, rows.offsets, now, j * kDoubles,
                                 static_cast<int>(columns_ - j * kDoubles));
    }
    for (int64_t j = 0; j < vectors_; ++j)
      parts[j] = Reduction::part(sums_.items[j], static_cast<double>(count), centres_.items[j]);
  }

  BN_INLINE int64_t vectors() const { return vectors_; }

 private:
  BN_INLINE void start(const int64_t* offsets) {
    const auto row = row_at(base_, offsets, 0);
    for (int64_t j = 0; j < vectors_; ++j) {
      double first[kDoubles], mean[kDoubles];
      for (int i = 0; i < kDoubles; ++i) {
        const int64_t v = smaller(j * kDoubles + i, columns_ - 1);
        first[i] = to_double(row.x()[v]);
        mean[i] = means_[v];
      }
      centres_.items[j] = Reduction::centre_of(load_raw<VD>(first), load_raw<VD>(mean));
      sums_.items[j] = Sums{};
    }
  }

  Pointers<Elem> base_;
  int64_t columns_;
  int64_t vectors_;
  const double* means_;
  Scratch<Sums, kColumnBlock / kDoubles> sums_;
  Scratch<VD, kColumnBlock / kDoubles> centres_;
};

// Folds tiles [first_tile, end_tile) of channels [channel, channel + channels); parts[v] receives what the v-th vector
// of them has. With repeat > 1 these are all channels.
template <class Reduction, class Elem>
void reduce_columns(const Program& p, const Schedule& s, int64_t channel, int64_t channels,
                    int64_t first_tile, int64_t end_tile, typename Reduction::Parts* parts) {
  using Part = typename Reduction::Part;
  using Parts = typename Reduction::Parts;
  double means[kColumnBlock] = {};
  Scratch<Part, kColumnBlock> column_parts;
  Scratch<PairwiseMerger<Parts>, kColumnBlock / kDoubles> mergers;
  Scratch<Parts, kColumnBlock / kDoubles> tile_parts;
  int64_t offsets[kChain][kTensors];
  for (int64_t begin = 0; begin < channels; begin += kColumnBlock) {
    const int64_t here = smaller(channels - begin, kColumnBlock);
    const int64_t columns = here * s.repeat;
    if (p.reduce == Reduce::kDyDotXmu) {
      load_means(p, channel + begin, here, means);
      for (int64_t v = here; v < columns; ++v)
        means[v] = means[v - here];
    }
    const auto base = columns_base<Elem>(p, s, channel + begin);
    ColumnSums<Reduction, Elem> sums(base, columns, means);
    for (int64_t j = 0; j < sums.vectors(); ++j)
      mergers.items[j].clear();

    Odometer odometer(s, s.loop_dims);
    int64_t unit = first_tile * s.units_per_tile;
    odometer.seek(unit);
    for (int64_t tile = first_tile; tile < end_tile && unit < s.units; ++tile) {
      const int64_t count = smaller(s.units_per_tile, s.units - unit);
      for (int64_t u = 0; u < count; ++u, odometer.next())
        memcpy(offsets[u], odometer.offset, sizeof(offsets[u]));
      sums.tile(offsets, count, tile_parts.items);
      for (int64_t j = 0; j < sums.vectors(); ++j)
        mergers.items[j].push(tile_parts.items[j]);
      unit += count;
    }
    Parts* const totals = parts + begin / kDoubles;
    for (int64_t j = 0; j < sums.vectors(); ++j) {
      const Parts total = mergers.items[j].total();
      if (s.repeat == 1) {
        totals[j] = total;
        continue;
      }
      for (int i = 0; i < kDoubles && j * kDoubles + i < columns; ++i)
        column_parts.items[j * kDoubles + i] = Reduction::lane(total, i);
    }
    if (s.remainder > 0 && end_tile == s.tiles) {
      odometer.seek_end();
      memcpy(offsets[0], odometer.offset, sizeof(offsets[0]));
      ColumnSums<Reduction, Elem> rest(base, s.remainder * here, means);
      rest.tile(offsets, 1, tile_parts.items);
      for (int64_t v = 0; v < s.remainder * here; ++v)
        column_parts.items[v] =
            merge(column_parts.items[v], Reduction::lane(tile_parts.items[v / kDoubles], v % kDoubles));
    }
    if (s.repeat == 1) continue;
    for (int64_t c = 0; c < here; ++c) {
      PairwiseMerger<Part> repeats;
      for (int64_t j = 0; j < s.repeat; ++j)
        repeats.push(column_parts.items[j * here + c]);
      if (c % kDoubles == 0) totals[c / kDoubles] = Parts{};
      Reduction::set(totals[c / kDoubles], static_cast<int>(c % kDoubles), repeats.total());
    }
  }
}

// The coefficients of up to kColumnBlock columns. Whole steps of paired types have those of their even columns first,
// then those of the odd ones.
template <class Elem>
class ColumnCoefficients {
 public:
  using V = typename ComputeOf<Elem>::Vector;

  // Columns v, v + channels, ... belong to channel v.
  BN_INLINE void set(const CoefficientPlanes& planes, int64_t channels, int64_t columns) {
    if (columns == channels && !kPaired<Elem>) return columns_.set(planes, channels);
    MapCoefficients<Elem, kColumnBlock> of_channels;
    of_channels.set(planes, channels);
    columns_.exact = of_channels.exact;
    columns_.all_fit = of_channels.all_fit;
    const int64_t in_steps = columns / kStep<Elem> * kStep<Elem>;
    int64_t c = 0;
    for (int64_t v = 0; v < columns; ++v) {
      const int64_t place = v % kStep<Elem>;
      columns_.copy(kPaired<Elem> && v < in_steps ? v - place + place % 2 * kFloats + place / 2 : v,
                    of_channels, c);
      if (++c == channels) c = 0;
    }
  }
  BN_INLINE bool all_fit() const { return columns_.all_fit; }
  BN_INLINE Coefficients<V> get(int64_t v) const { return columns_.lanes(v); }
  BN_INLINE StepCoefficients<Elem, V> step(int64_t v) const {
    StepCoefficients<Elem, V> s;
    s.k = get(v);
    if constexpr (kPaired<Elem>) s.odd = get(v + kFloats);
    return s;
  }

 private:
  MapCoefficients<Elem, kColumnBlock> columns_;
};

// Maps the first `count` rows of kSteps steps of columns, whose coefficients stay in registers.
template <int kSteps, bool kStream, class Map, class Elem>
BN_INLINE void map_group(const Map& map, const Pointers<Elem>& base, const Rows& rows, int64_t count,
                         int64_t column, int64_t ahead, const ColumnCoefficients<Elem>& k) {
  StepCoefficients<Elem, typename ComputeOf<Elem>::Vector> local[kSteps];
#pragma GCC unroll 16
  for (int j = 0; j < kSteps; ++j)
    local[j] = k.step(column + j * kStep<Elem>);
  for (int64_t u = 0; u < count; ++u) {
    const auto row = row_at(base, rows.offsets[u], column);
    const auto soon = row_at(base, rows.ahead(u, ahead), column);
#pragma GCC unroll 16
    for (int j = 0; j < kSteps; ++j) {
      prefetch_for(map.reads(), soon, j * kStep<Elem>);
      map_step<kStream>(map, row, j * kStep<Elem>, local[j]);
    }
  }
}

// The first `count` rows of all columns.
template <bool kStream, class Map, class Elem>
__attribute__((noinline)) void map_rows(const Map& map, const Pointers<Elem>& base, const Rows& rows,
                                        int64_t count, int64_t columns, const ColumnCoefficients<Elem>& k) {
  constexpr int kWidth = sizeof(Elem) == 8 ? kDoubles : kFloats;
  constexpr int kMapSteps = (kVectorBytes == 64 ? 4 : 2) * kWidth / kStep<Elem>;
  const int64_t ahead = rows_ahead<Elem>(columns);
  int64_t v = 0;
  for (; v + kMapSteps * kStep<Elem> <= columns; v += kMapSteps * kStep<Elem>)
    map_group<kMapSteps, kStream>(map, base, rows, count, v, ahead, k);
  for (; v + kStep<Elem> <= columns; v += kStep<Elem>)
    map_group<1, kStream>(map, base, rows, count, v, ahead, k);
  for (; v < columns; v += kWidth) {
    const auto coefficients = k.get(v);
    for (int64_t u = 0; u < count; ++u) {
      const auto row = row_at(base, rows.offsets[u], v);
      if (v + kWidth <= columns) {
        map_vector<false>(map, row, 0, coefficients);
      } else {
        map_tail(map, row, 0, columns - v, coefficients);
      }
    }
  }
}

// Are whole rows of streaming stores possible?
template <class Elem>
BN_INLINE bool rows_are_aligned(const Schedule& s, const Elem* out) {
  constexpr int64_t kStoreBytes = kStep<Elem> * static_cast<int64_t>(sizeof(Elem));
  if (reinterpret_cast<uintptr_t>(out) % kStoreBytes != 0) return false;
  for (int d = 0; d < s.loop_dims; ++d) {
    if (s.views[kOut].strides[d] * static_cast<int64_t>(sizeof(Elem)) % kStoreBytes != 0) return false;
  }
  return true;
}

// Rows of a block that has channels which float32 coefficients cannot serve: element by element, those in float64.
template <class Map, class Elem>
__attribute__((noinline)) void map_row_mixed(const Map& map, const Pointers<Elem>& row, int64_t columns,
                                             int64_t channels, const CoefficientPlanes& planes) {
  MapCoefficients<Elem, kColumnBlock> k;
  k.set(planes, channels);
  for (int64_t v = 0; v < columns; ++v) {
    Pointers<Elem> at;
    for (int t = 0; t < kTensors; ++t)
      at.at[t] = row.at[t] + v;
    map_run<false>(map, Run<Elem>{at, at, 1}, k, v % channels);
  }
}

// Maps units [first_unit, end_unit), and the remainder if end_unit is the last.
template <class Elem, class Map>
void map_columns(const Map& map, const Program& p, const Schedule& s, int64_t channel, int64_t channels,
                 int64_t first_unit, int64_t end_unit, const CoefficientPlanes& coefficients) {
  ColumnCoefficients<Elem> k;
  for (int64_t begin = 0; begin < channels; begin += kColumnBlock) {
    const int64_t here = smaller(channels - begin, kColumnBlock);
    const int64_t columns = here * s.repeat;
    const CoefficientPlanes planes = coefficients.from(begin);
    k.set(planes, here, columns);
    const auto base = columns_base<Elem>(p, s, channel + begin);
    const bool stream_out = s.stream_out && rows_are_aligned(s, base.at[kOut]);
    // A strip of rows, and those ahead of it.
    int64_t offsets[2 * kMapStrip][kTensors];
    const auto map_strip = [&](const Rows& rows, int64_t count, int64_t width) {
      if (sizeof(Elem) != 8 && !k.all_fit()) {
        for (int64_t u = 0; u < count; ++u)
          map_row_mixed(map, row_at(base, rows.offsets[u], 0), width, here, planes);
      } else if (stream_out) {
        map_rows<true>(map, base, rows, count, width, k);
      } else {
        map_rows<false>(map, base, rows, count, width, k);
      }
    };
    const int64_t ahead = rows_ahead<Elem>(columns);
    const int64_t strip = columns * static_cast<int64_t>(sizeof(Elem)) <= kNarrowBytes ? kMapStrip : ahead;
    Odometer odometer(s, s.loop_dims);
    odometer.seek(first_unit);
    int64_t known = 0;
    for (int64_t unit = first_unit; unit < end_unit; unit += strip) {
      const int64_t wanted = smaller(strip + ahead, end_unit - unit);
      for (; known < wanted; ++known, odometer.next())
        memcpy(offsets[known], odometer.offset, sizeof(offsets[known]));
      const int64_t rows = smaller(strip, end_unit - unit);
      map_strip(Rows{offsets, known}, rows, columns);
      known -= rows;
      memmove(offsets[0], offsets[rows], static_cast<size_t>(known) * sizeof(offsets[0]));
    }
    if (s.remainder > 0 && end_unit == s.units) {
      odometer.seek_end();
      memcpy(offsets[0], odometer.offset, sizeof(offsets[0]));
      k.set(planes, here, s.remainder * here);
      map_strip(Rows{offsets, 1}, 1, s.remainder * here);
    }
  }
}

}  // namespace bn::cpu::BN_ISA
