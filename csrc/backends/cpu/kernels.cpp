// One task of one program, on the instruction set that this file is compiled for (BN_ISA).
#include "backends/cpu/kernels.h"

#include "backends/cpu/channels.h"
#include "backends/cpu/columns.h"
#include "backends/cpu/rows.h"

namespace bn::cpu::BN_ISA {
namespace {

// Finalize, once: it is long, and every path and type needs it.
__attribute__((noinline)) void finalize_channels(const Program& p, const ChannelVector& at,
                                                 const TotalsOf<VD>& totals, double count,
                                                 const CoefficientPlanes& coefficients) {
  const CoefficientsOf<VD> k = finalize(p, at, totals, count);
  if (p.map != Map::kNone) coefficients.store(at.count, k);
}

// Finalize for channels [first, end), whose coefficients go to `coefficients`. totals(at) is what the reduction found.
template <class TotalsAt>
BN_INLINE void finalize_all(const Program& p, int64_t first, int64_t end, double count, TotalsAt totals,
                            const CoefficientPlanes& coefficients) {
  for_channel_vectors(first, end, [&](const ChannelVector& at) {
    finalize_channels(p, at, totals(at), count, coefficients.from(at.first - first));
  });
}
BN_INLINE TotalsOf<VD> no_totals(const ChannelVector&) {
  return {};
}

// The reduction or map that a program asks for becomes a type, here and nowhere else. `use` is called with a value of
// that type.
template <class Elem, class Use>
BN_INLINE void with_reduction(const Program& p, Use use) {
  switch (p.reduce) {
    case Reduce::kMoments:
      return use(ReduceMoments<Elem>{});
    case Reduce::kSums:
      return use(ReduceSums<Elem>{});
    case Reduce::kDyDotXmu:
      if (p.relu) return use(ReduceDyDotXmu<Elem, true>{});
      return use(ReduceDyDotXmu<Elem, false>{});
    case Reduce::kNone:
      return;
  }
}

template <class Elem, class Use>
BN_INLINE void with_map(const Program& p, Use use) {
  switch (p.map) {
    case Map::kNormalize: {
      const Variants variants{p.relu, present(p.extra)};
      if (variants.relu || variants.residual) return use(MapNormalize<false>{variants});
      return use(MapNormalize<true>{variants});
    }
    case Map::kBackward: {
      const Variants variants{p.relu, present(p.grad_residual)};
      if (variants.relu || variants.residual) return use(MapBackward<false, false>{variants});
      return use(MapBackward<true, false>{variants});
    }
    case Map::kScale:
      return use(MapBackward<false, true>{{p.relu, present(p.grad_residual)}});
    case Map::kQuantize:
      if constexpr (sizeof(Elem) == 8) use(MapQuantize(p));
      return;
    case Map::kNone:
      return;
  }
}

// ---- the three paths behind one pair of functions --------------------------------------------------------------

template <class Walk>
class OverRows {
 public:
  using Elem = typename Walk::Elem;
  static constexpr int kBlock = kMaxBlock;

  BN_INLINE OverRows(const Program& p, const Schedule& s) : program_(p), schedule_(s), walk_(p, s) {}

  template <class Reduction>
  BN_INLINE void reduce(int64_t channel, int64_t channels, int64_t tile, int64_t end,
                        typename Reduction::Parts* parts) {
    reduce_block<Reduction>(walk_, program_, schedule_, channel, channels, tile, end, parts);
  }
  template <class Map>
  BN_INLINE void map(const Map& what, int64_t channel, int64_t channels, int64_t unit, int64_t end,
                     const CoefficientPlanes& k) {
    if constexpr (!std::is_same<Walk, PackedWalk<Elem>>::value) {
      if (schedule_.stream_out)
        return map_block<true>(what, walk_, schedule_, channel, channels, unit, end, k);
    }
    map_block<false>(what, walk_, schedule_, channel, channels, unit, end, k);
  }

 private:
  const Program& program_;
  const Schedule& schedule_;
  Walk walk_;
};

template <class Element>
class OverColumns {
 public:
  using Elem = Element;
  static constexpr int kBlock = kColumnBlock;

  BN_INLINE OverColumns(const Program& p, const Schedule& s) : program_(p), schedule_(s) {}

  template <class Reduction>
  BN_INLINE void reduce(int64_t channel, int64_t channels, int64_t tile, int64_t end,
                        typename Reduction::Parts* parts) {
    reduce_columns<Reduction, Elem>(program_, schedule_, channel, channels, tile, end, parts);
  }
  template <class Map>
  BN_INLINE void map(const Map& what, int64_t channel, int64_t channels, int64_t unit, int64_t end,
                     const CoefficientPlanes& k) {
    map_columns<Elem>(what, program_, schedule_, channel, channels, unit, end, k);
  }

 private:
  const Program& program_;
  const Schedule& schedule_;
};

// ---- stages ------------------------------------------------------------------------------------------------------

template <class Part>
BN_INLINE Part* partials(const Schedule& s, char* workspace) {
  return reinterpret_cast<Part*>(workspace + s.partials_at);  // [split][channel]
}

BN_INLINE CoefficientPlanes saved_coefficients(const Program& p, const Schedule& s, char* workspace) {
  return {reinterpret_cast<double*>(workspace + s.coefficients_at), p.channels + kPlanePadding};
}

BN_INLINE double counted(const Program& p) {
  return p.finalize == Finalize::kElemtBackward ? counter_total(p.counts) : 0.0;
}

BN_INLINE int64_t split_begin(const Schedule& s, int64_t split) {
  return smaller(split * s.tiles_per_split, s.tiles);
}

// Everything for the channels of one task.
template <class Path>
void run_fused(const Program& p, const Schedule& s, int64_t task) {
  using Elem = typename Path::Elem;
  Path path(p, s);
  const double count = counted(p);
  alignas(64) double planes[kCoefficientFields][Path::kBlock];
  const int64_t end = smaller((task + 1) * s.channels_per_task, p.channels);
  for (int64_t channel = task * s.channels_per_task; channel < end; channel += s.block) {
    const int64_t channels = smaller(s.block, end - channel);
    const CoefficientPlanes coefficients{planes[0], Path::kBlock};
    if (p.reduce == Reduce::kNone || s.tiles == 0) {
      finalize_all(p, channel, channel + channels, count, no_totals, coefficients);
    } else {
      with_reduction<Elem>(p, [&](auto reduction) {
        using Reduction = decltype(reduction);
        Scratch<typename Reduction::Parts, Path::kBlock / kDoubles> parts;
        path.template reduce<Reduction>(channel, channels, 0, s.tiles, parts.items);
        const auto totals = [&](const ChannelVector& at) {
          return Reduction::totals(parts.items[(at.first - channel) / kDoubles]);
        };
        finalize_all(p, channel, channel + channels, count, totals, coefficients);
      });
    }
    with_map<Elem>(p, [&](auto map) {
      // From the end backwards: what the reduction read last is still in cache.
      for (int64_t end_unit = s.units; end_unit > 0; end_unit -= s.fused_units) {
        const int64_t unit = end_unit > s.fused_units ? end_unit - s.fused_units : 0;
        path.map(map, channel, channels, unit, end_unit, coefficients);
      }
    });
  }
  if (s.stream_out) stream_fence();
}

template <class Path>
void run_reduce(const Program& p, const Schedule& s, char* workspace, int64_t task) {
  Path path(p, s);
  const int64_t split = task % s.splits;
  const int64_t begin = task / s.splits * s.channels_per_task;
  const int64_t end = smaller(begin + s.channels_per_task, p.channels);
  with_reduction<typename Path::Elem>(p, [&](auto reduction) {
    using Reduction = decltype(reduction);
    auto* out = partials<typename Reduction::Part>(s, workspace) + split * p.channels;
    for (int64_t channel = begin; channel < end; channel += s.block) {
      const int64_t channels = smaller(s.block, end - channel);
      Scratch<typename Reduction::Parts, Path::kBlock / kDoubles> parts;
      path.template reduce<Reduction>(channel, channels, split_begin(s, split), split_begin(s, split + 1),
                                      parts.items);
      for (int64_t c = 0; c < channels; ++c)
        out[channel + c] = Reduction::lane(parts.items[c / kDoubles], static_cast<int>(c % kDoubles));
    }
  });
}

template <class Elem>
void run_finalize(const Program& p, const Schedule& s, char* workspace, int64_t task) {
  const double count = counted(p);
  const int64_t begin = task * s.finalize_channels;
  const int64_t end = smaller(begin + s.finalize_channels, p.channels);
  const CoefficientPlanes coefficients = saved_coefficients(p, s, workspace).from(begin);
  if (p.reduce == Reduce::kNone || s.tiles == 0)
    return finalize_all(p, begin, end, count, no_totals, coefficients);
  with_reduction<Elem>(p, [&](auto reduction) {
    using Reduction = decltype(reduction);
    using Parts = typename Reduction::Parts;
    const auto* parts = partials<typename Reduction::Part>(s, workspace);
    const auto totals = [&](const ChannelVector& at) {
      PairwiseMerger<Parts> merger;
      for (int64_t split = 0; split < s.splits; ++split) {
        Parts of_split{};
        for (int i = 0; i < at.count; ++i)
          Reduction::set(of_split, i, parts[split * p.channels + at.first + i]);
        merger.push(of_split);
      }
      return Reduction::totals(merger.total());
    };
    finalize_all(p, begin, end, count, totals, coefficients);
  });
}

template <class Path>
void run_map(const Program& p, const Schedule& s, char* workspace, int64_t task) {
  Path path(p, s);
  // From the end backwards: what the reduction read last is still in cache.
  task = (p.channels + s.channels_per_task - 1) / s.channels_per_task * s.splits - 1 - task;
  const int64_t split = task % s.splits;
  const int64_t begin = task / s.splits * s.channels_per_task;
  const int64_t end = smaller(begin + s.channels_per_task, p.channels);
  const int64_t unit = smaller(split_begin(s, split) * s.units_per_tile, s.units);
  const int64_t end_unit = split + 1 == s.splits ? s.units : split_begin(s, split + 1) * s.units_per_tile;
  if (unit >= end_unit) return;
  with_map<typename Path::Elem>(p, [&](auto map) {
    for (int64_t channel = begin; channel < end; channel += s.block)
      path.map(map, channel, smaller(s.block, end - channel), unit, end_unit,
               saved_coefficients(p, s, workspace).from(channel));
  });
  if (s.stream_out) stream_fence();
}

template <class Path>
void run_stage(const Program& p, const Schedule& s, char* workspace, Stage stage, int64_t task) {
  switch (stage) {
    case Stage::kFused:
      return run_fused<Path>(p, s, task);
    case Stage::kReduce:
      return run_reduce<Path>(p, s, workspace, task);
    case Stage::kMap:
      return run_map<Path>(p, s, workspace, task);
    default:
      return;
  }
}

void fill(const Fill& f) {
  const TensorArg& tensor = f.tensor;
  const int64_t size = dtype_size(tensor.dtype);
  int64_t elements = 1;
  for (int d = 0; d < tensor.rank; ++d)
    elements *= tensor.extents[d];
  int64_t index[kMaxRank] = {};
  char* at = static_cast<char*>(tensor.data);
  for (int64_t i = 0; i < elements; ++i) {
    store_from_double(at, tensor.dtype, f.value);
    for (int d = tensor.rank - 1; d >= 0; --d) {
      at += tensor.strides[d] * size;
      if (++index[d] < tensor.extents[d]) break;
      at -= index[d] * tensor.strides[d] * size;
      index[d] = 0;
    }
  }
}

}  // namespace

void run(const Program& p, const Schedule& s, char* workspace, int stage, int64_t task) {
  const Stage what = s.stage[stage];
  if (what == Stage::kFill) return fill(p.fills[task]);
  if (what == Stage::kFinalize) {
    if (s.elem == DType::kFloat64) return run_finalize<double>(p, s, workspace, task);
    return run_finalize<float>(p, s, workspace, task);
  }
  switch (s.path) {
    case Path::kRows:
      switch (s.elem) {
        case DType::kFloat32:
          return run_stage<OverRows<DirectWalk<float>>>(p, s, workspace, what, task);
        case DType::kFloat16:
          return run_stage<OverRows<DirectWalk<Half>>>(p, s, workspace, what, task);
        case DType::kBFloat16:
          return run_stage<OverRows<DirectWalk<BFloat16>>>(p, s, workspace, what, task);
        default:
          return run_stage<OverRows<DirectWalk<double>>>(p, s, workspace, what, task);
      }
    case Path::kChannelsLast:
      switch (s.elem) {
        case DType::kFloat32:
          return run_stage<OverColumns<float>>(p, s, workspace, what, task);
        case DType::kFloat16:
          return run_stage<OverColumns<Half>>(p, s, workspace, what, task);
        case DType::kBFloat16:
          return run_stage<OverColumns<BFloat16>>(p, s, workspace, what, task);
        default:
          return run_stage<OverColumns<double>>(p, s, workspace, what, task);
      }
    case Path::kPacked:
      if (s.elem == DType::kFloat64)
        return run_stage<OverRows<PackedWalk<double>>>(p, s, workspace, what, task);
      return run_stage<OverRows<PackedWalk<float>>>(p, s, workspace, what, task);
    case Path::kChannels:
      return;
  }
}

}  // namespace bn::cpu::BN_ISA
