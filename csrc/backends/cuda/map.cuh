// The map stage: out = f(data, the channel's coefficients), element by element.
#pragma once

#include "backends/cuda/kernels.h"
#include "backends/cuda/vector.h"
#include "backends/cuda/walk.h"
#include "math/quantize.h"

namespace bn::cuda {

// One place of every tensor of a map, loaded or to be stored.
template <class T, int kWidth>
struct Mapped {
  Vector<T, kWidth> x, dy, extra;
};

// What the map of a program reads and writes. Each map is compiled for itself; activation, residual and absent
// outputs are decided at run time, by branches that all threads take alike.
template <Map kMap>
inline constexpr bool kReadsX = kMap != Map::kScale;
template <Map kMap>
inline constexpr bool kReadsDy = kMap == Map::kBackward || kMap == Map::kScale;

// Is `extra` read? The residual of a forward map, the mask of a backward one.
template <Map kMap>
__device__ inline bool reads_extra(const Program& p) {
  return present(p.extra) && (kMap == Map::kNormalize || p.relu);
}

// The mapped value of element i in V; *grad_residual is dy as the activation lets it through.
template <Map kMap, class V, class T, int kWidth>
__device__ inline V map_element(const Program& p, const Mapped<T, kWidth>& in, int i,
                                const Coefficients<V>& c, bool extra, V* grad_residual) {
  if constexpr (kMap == Map::kNormalize) {
    V y = normalize(in.x.template get<V>(p.x, i), c);
    if (extra) y += in.extra.template get<V>(p.extra, i);
    if (p.relu && y < V{0}) y = V{0};
    return y;
  } else {
    V dy = in.dy.template get<V>(p.dy, i);
    if (extra && !(in.extra.template get<V>(p.extra, i) > V{0})) dy = V{0};
    *grad_residual = dy;
    if constexpr (kMap == Map::kBackward) return backward(dy, in.x.template get<V>(p.x, i), c);
    return dy * c.scale;
  }
}

// A channel's coefficients in registers. Those of float32 maps that would lose more than a rounding stay behind, in
// float64: such channels are rare.
template <Map kMap, class T>
class ChannelMap {
 public:
  using Value = std::conditional_t<kMap == Map::kQuantize, double, typename Arithmetic<T>::Value>;
  static constexpr bool kNarrow = std::is_same<Value, float>::value;
  using Record = std::conditional_t<kNarrow, NarrowChannel, ChannelCoefficients>;

  __device__ static auto planes(const MapChannels& channels) {
    if constexpr (kNarrow) {
      return static_cast<const uint32_t*>(channels.narrow);
    } else {
      return static_cast<const double*>(channels.exact);
    }
  }

  __device__ void start(const Record& record) {
    if constexpr (kNarrow) {
      coefficients_ = record.coefficients;
      in_double_ = record.in_double != 0;
    } else {
      coefficients_ = coefficients_f64(record);
    }
  }

  template <int kWidth>
  __device__ void apply(const Program& p, const MapChannels& channels, int64_t channel,
                        const Mapped<T, kWidth>& in, int i, bool extra, Vector<T, kWidth>* out,
                        Vector<T, kWidth>* grad_residual) const {
    if constexpr (kMap == Map::kQuantize) {
      const Quantization z{p.input_scale, static_cast<double>(p.input_zero_point), p.output_scale,
                           static_cast<double>(p.output_zero_point)};
      const ChannelCoefficients c{coefficients_.mean_hi, coefficients_.scale, coefficients_.shift, 0, 0};
      out->set_integer(p.out, dequantize_normalize_requantize(in.x.template get<double>(p.x, i), c, z));
    } else if (kNarrow && in_double_) {
      const auto exact = load_planes<ChannelCoefficients>(channels.exact, p.channels, channel);
      apply_in(p, in, i, extra, coefficients_f64(exact), out, grad_residual);
    } else {
      apply_in(p, in, i, extra, coefficients_, out, grad_residual);
    }
  }

 private:
  template <class V, int kWidth>
  __device__ static void apply_in(const Program& p, const Mapped<T, kWidth>& in, int i, bool extra,
                                  const Coefficients<V>& c, Vector<T, kWidth>* out,
                                  Vector<T, kWidth>* grad_residual) {
    V masked{0};
    out->set(p.out, i, map_element<kMap>(p, in, i, c, extra, &masked));
    if constexpr (kReadsDy<kMap>) grad_residual->set(p.grad_residual, i, masked);
  }

  Coefficients<Value> coefficients_;
  bool in_double_ = false;
};

__device__ inline int64_t offset_of(const Program& p, const Walk& walk, const Place& place, int step,
                                    const DataArg& arg, int64_t channel) {
  int64_t offset[1] = {channel * arg.channel_stride};
  add_offsets<1>(p, walk, place, step, {&arg}, offset);
  return offset[0];
}

// Where a vector is, and how much of it there is; nothing past the end of a split.
struct MapPlace {
  Place place;
  int count = 0;
};

template <Map kMap, class T, int kWidth>
__device__ inline Mapped<T, kWidth> load_mapped(const Program& p, const Walk& walk, const MapPlace& at,
                                                int step, int64_t channel, bool extra, bool aligned) {
  Mapped<T, kWidth> in;
  const auto load = [&](const DataArg& arg) {
    return Vector<T, kWidth>::load(arg, offset_of(p, walk, at.place, step, arg, channel), at.count, aligned);
  };
  if constexpr (kReadsX<kMap>) in.x = load(p.x);
  if constexpr (kReadsDy<kMap>) in.dy = load(p.dy);
  if (extra) in.extra = load(p.extra);
  return in;
}

template <Map kMap, class T, int kWidth>
__device__ inline void store_mapped(const Program& p, const Walk& walk, const MapPlace& at, int step,
                                    int64_t channel, bool aligned, const Vector<T, kWidth>& out,
                                    const Vector<T, kWidth>& grad_residual) {
  if (present(p.out)) out.store(p.out, offset_of(p, walk, at.place, step, p.out, channel), at.count, aligned);
  if (kReadsDy<kMap> && present(p.grad_residual)) {
    grad_residual.store(p.grad_residual, offset_of(p, walk, at.place, step, p.grad_residual, channel),
                        at.count, aligned);
  }
}

__device__ inline bool all_aligned(const Program& p) {
  return base_aligned(p.x) && base_aligned(p.dy) && base_aligned(p.extra) && base_aligned(p.out) &&
         base_aligned(p.grad_residual);
}

template <int kWidth>
inline constexpr int kMapInFlight =
    kWidth == 8 ? 2 : 4;  // vectors that a thread loads before it maps the first

template <Map kMap, class T, int kWidth>
__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    map_rows(const __grid_constant__ Program p, const __grid_constant__ Walk walk,
             const MapChannels channels) {
  constexpr int kTogether = kMapInFlight<kWidth>;
  const int lane = threadIdx.x & (walk.lanes - 1);
  const int64_t group = blockIdx.x / walk.splits;
  const int split = blockIdx.x % walk.splits;
  const int64_t c = group * (kBlock / walk.lanes) + threadIdx.x / walk.lanes;
  if (c >= p.channels) return;
  using Channel = ChannelMap<kMap, T>;
  Channel channel;
  channel.start(load_planes<typename Channel::Record>(Channel::planes(channels), p.channels, c));
  const bool extra = reads_extra<kMap>(p);
  const bool aligned = all_aligned(p);
  const int64_t begin = split * walk.chunk;
  const int64_t end = begin + walk.chunk < walk.vectors ? begin + walk.chunk : walk.vectors;
  for (int64_t vector = begin + lane; vector < end; vector += int64_t{kTogether} * walk.lanes) {
    Mapped<T, kWidth> in[kTogether];
    MapPlace at[kTogether];
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const int64_t mine = vector + int64_t{u} * walk.lanes;
      if (mine < end) {
        at[u].place = place_of(walk, mine);
        at[u].count = row_vector_count<kWidth>(walk, at[u].place);
        in[u] = load_mapped<kMap, T, kWidth>(p, walk, at[u], kWidth, c, extra, aligned);
      }
    }
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      if (at[u].count > 0) {
        Vector<T, kWidth> out, grad_residual;
#pragma unroll
        for (int i = 0; i < kWidth; ++i)
          channel.apply(p, channels, c, in[u], i, extra, &out, &grad_residual);
        store_mapped<kMap>(p, walk, at[u], kWidth, c, aligned, out, grad_residual);
      }
    }
  }
}

template <Map kMap, class T, int kWidth>
__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    map_columns(const __grid_constant__ Program p, const __grid_constant__ Walk walk,
                const MapChannels channels) {
  constexpr int kTogether = kMapInFlight<kWidth>;
  const int lane = threadIdx.x & (walk.lanes - 1);
  const int rank = threadIdx.x / walk.lanes;
  const int ranks = kBlock / walk.lanes;
  const int64_t group = blockIdx.x / walk.splits;
  const int split = blockIdx.x % walk.splits;
  const int64_t c = (group * walk.lanes + lane) * kWidth;
  const int64_t left = p.channels - c;
  using Channel = ChannelMap<kMap, T>;
  Channel channel[kWidth];
  {
    typename Channel::Record records[kWidth];
    load_planes_by_block(Channel::planes(channels), p.channels, group * walk.lanes * kWidth, walk.lanes,
                         records);
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      channel[i].start(records[i]);
  }
  if (left <= 0) return;
  const int width = left < kWidth ? static_cast<int>(left) : kWidth;
  const bool extra = reads_extra<kMap>(p);
  const bool aligned = all_aligned(p);
  const int64_t begin = split * walk.chunk;
  const int64_t end = begin + walk.chunk < walk.vectors ? begin + walk.chunk : walk.vectors;
  for (int64_t vector = begin + rank; vector < end; vector += int64_t{kTogether} * ranks) {
    Mapped<T, kWidth> in[kTogether];
    MapPlace at[kTogether];
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const int64_t mine = vector + int64_t{u} * ranks;
      if (mine < end) {
        at[u].place = place_of(walk, mine);
        at[u].count = width;
        in[u] = load_mapped<kMap, T, kWidth>(p, walk, at[u], 1, c, extra, aligned);
      }
    }
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      if (at[u].count > 0) {
        Vector<T, kWidth> out, grad_residual;
#pragma unroll
        for (int i = 0; i < kWidth; ++i)
          channel[i].apply(p, channels, c + i, in[u], i, extra, &out, &grad_residual);
        store_mapped<kMap>(p, walk, at[u], 1, c, aligned, out, grad_residual);
      }
    }
  }
}

// ---- the host's side ---------------------------------------------------------------------------------------

template <Map kMap, class T>
void launch_map_kind(const char* name, const Program& p, const Geometry& geometry,
                     const MapChannels& channels, cudaStream_t stream) {
  constexpr int kWide = kVectorWidth<T>;
  LaunchShape shape;
  shape.blocks = geometry.blocks;
  if (geometry.columns) {
    using Record = typename ChannelMap<kMap, T>::Record;
    shape.shared_bytes = geometry.width == kWide ? shared_for_planes<Record, kWide>(geometry.walk.lanes)
                                                 : shared_for_planes<Record, 1>(geometry.walk.lanes);
    launch(name, geometry.width == kWide ? map_columns<kMap, T, kWide> : map_columns<kMap, T, 1>, shape,
           stream, p, geometry.walk, channels);
  } else {
    launch(name, geometry.width == kWide ? map_rows<kMap, T, kWide> : map_rows<kMap, T, 1>, shape, stream, p,
           geometry.walk, channels);
  }
}

template <class T>
void launch_map(const Program& p, const Geometry& geometry, const MapChannels& channels,
                cudaStream_t stream) {
  switch (p.map) {
    case Map::kNormalize:
      launch_map_kind<Map::kNormalize, T>("map_normalize", p, geometry, channels, stream);
      break;
    case Map::kBackward:
      launch_map_kind<Map::kBackward, T>("map_backward", p, geometry, channels, stream);
      break;
    case Map::kScale:
      launch_map_kind<Map::kScale, T>("map_scale", p, geometry, channels, stream);
      break;
    case Map::kQuantize:
      if constexpr (std::is_same<T, AnyElement>::value) {
        launch_map_kind<Map::kQuantize, T>("map_quantize", p, geometry, channels, stream);
      }
      break;
    case Map::kNone:
      break;
  }
}

}  // namespace bn::cuda
