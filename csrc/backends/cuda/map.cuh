// The map stage: out = f(data, the channel's coefficients), element by element.
#pragma once

#include "backends/cuda/coefficients.cuh"
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

  template <int kWidth>
  __device__ void start(const BlockCoefficients<kNarrow, kWidth>& block, int channel) {
    const auto record = block.load(channel);
    if constexpr (kNarrow) {
      coefficients_ = record.coefficients;
      in_double_ = record.in_double != 0;
    } else {
      coefficients_ = coefficients_f64(record);
    }
  }

  // Element i of a vector; `channel` is the block's number of its channel.
  template <int kGroup, int kWidth>
  __device__ void apply(const Program& p, const BlockCoefficients<kNarrow, kGroup>& block, int channel,
                        const Mapped<T, kWidth>& in, int i, bool extra, Vector<T, kWidth>* out,
                        Vector<T, kWidth>* grad_residual) const {
    if constexpr (kMap == Map::kQuantize) {
      const Quantization z{p.input_scale, static_cast<double>(p.input_zero_point), p.output_scale,
                           static_cast<double>(p.output_zero_point)};
      const ChannelCoefficients c{coefficients_.mean_hi, coefficients_.scale, coefficients_.shift, 0, 0};
      out->set_integer(p.out, dequantize_normalize_requantize(in.x.template get<double>(p.x, i), c, z));
    } else if (kNarrow && in_double_) {
      apply_in(p, in, i, extra, coefficients_f64(block.exact(channel)), out, grad_residual);
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

// Where a map finds its data: in global memory. (Or where the reduction left it: fused.cuh.)
template <Map kMap, class T, int kWidth>
class FromGlobal {
 public:
  __device__ explicit FromGlobal(const Program& p) : extra_(reads_extra<kMap>(p)) {}

  __device__ bool extra() const { return extra_; }

  __device__ Mapped<T, kWidth> next(const Program& p, const Walk& walk, const MapPlace& at, int step,
                                    int64_t channel, bool aligned) const {
    Mapped<T, kWidth> in;
    const auto load = [&](const DataArg& arg) {
      return Vector<T, kWidth>::load(arg, offset_of(p, walk, at.place, step, arg, channel), at.count,
                                     aligned);
    };
    if constexpr (kReadsX<kMap>) in.x = load(p.x);
    if constexpr (kReadsDy<kMap>) in.dy = load(p.dy);
    if (extra_) in.extra = load(p.extra);
    return in;
  }

 private:
  bool extra_;
};

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

// A thread's vectors from `begin` to `end` of channel c, which is number `mine` of the block.
template <Map kMap, class T, int kWidth, class Block, class From>
__device__ inline void map_row(const Program& p, const Walk& walk, const Block& block, int64_t c, int mine,
                               int64_t begin, int64_t end, From& from) {
  constexpr int kTogether = kMapInFlight<kWidth>;
  ChannelMap<kMap, T> channel;
  channel.start(block, mine);
  const int lane = threadIdx.x & (walk.lanes - 1);
  const bool aligned = all_aligned(p);
  for (int64_t vector = begin + lane; vector < end; vector += int64_t{kTogether} * walk.lanes) {
    Mapped<T, kWidth> in[kTogether];
    MapPlace at[kTogether];
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const int64_t next = vector + int64_t{u} * walk.lanes;
      if (next < end) {
        at[u].place = place_of(walk, next);
        at[u].count = row_vector_count<kWidth>(walk, at[u].place);
        in[u] = from.next(p, walk, at[u], kWidth, c, aligned);
      }
    }
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      if (at[u].count > 0) {
        Vector<T, kWidth> out, grad_residual;
#pragma unroll
        for (int i = 0; i < kWidth; ++i)
          channel.apply(p, block, mine, in[u], i, from.extra(), &out, &grad_residual);
        store_mapped<kMap>(p, walk, at[u], kWidth, c, aligned, out, grad_residual);
      }
    }
  }
}

// The same for the channels that the thread's lane has, of those from `first` on.
template <Map kMap, class T, int kWidth, class Block, class From>
__device__ inline void map_column(const Program& p, const Walk& walk, const Block& block, int64_t first,
                                  int64_t begin, int64_t end, From& from) {
  constexpr int kTogether = kMapInFlight<kWidth>;
  const int lane = threadIdx.x & (walk.lanes - 1);
  const int rank = threadIdx.x / walk.lanes;
  const int ranks = kBlock / walk.lanes;
  const int64_t c = first + lane * kWidth;
  const int64_t left = p.channels - c;
  if (left <= 0) return;
  const int width = left < kWidth ? static_cast<int>(left) : kWidth;
  ChannelMap<kMap, T> channel[kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    channel[i].start(block, lane * kWidth + i);
  const bool aligned = all_aligned(p);
  for (int64_t vector = begin + rank; vector < end; vector += int64_t{kTogether} * ranks) {
    Mapped<T, kWidth> in[kTogether];
    MapPlace at[kTogether];
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const int64_t next = vector + int64_t{u} * ranks;
      if (next < end) {
        at[u].place = place_of(walk, next);
        at[u].count = width;
        in[u] = from.next(p, walk, at[u], 1, c, aligned);
      }
    }
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      if (at[u].count > 0) {
        Vector<T, kWidth> out, grad_residual;
#pragma unroll
        for (int i = 0; i < kWidth; ++i)
          channel[i].apply(p, block, lane * kWidth + i, in[u], i, from.extra(), &out, &grad_residual);
        store_mapped<kMap>(p, walk, at[u], 1, c, aligned, out, grad_residual);
      }
    }
  }
}

template <Map kMap, class T, int kWidth>
__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    map_rows(const __grid_constant__ Program p, const __grid_constant__ Walk walk,
             const double* coefficients) {
  const int channels = kBlock / walk.lanes;
  const int64_t first = blockIdx.x / walk.splits * int64_t{channels};
  const BlockCoefficients<ChannelMap<kMap, T>::kNarrow, 1> block(dynamic_shared(), channels);
  block.fill(p, coefficients, first);
  const int mine = threadIdx.x / walk.lanes;
  if (first + mine >= p.channels) return;
  FromGlobal<kMap, T, kWidth> from(p);
  const Span span = span_of(walk, blockIdx.x % walk.splits);
  map_row<kMap, T, kWidth>(p, walk, block, first + mine, mine, span.begin, span.end, from);
}

template <Map kMap, class T, int kWidth>
__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    map_columns(const __grid_constant__ Program p, const __grid_constant__ Walk walk,
                const double* coefficients) {
  const int channels = walk.lanes * kWidth;
  const int64_t first = blockIdx.x / walk.splits * int64_t{channels};
  const BlockCoefficients<ChannelMap<kMap, T>::kNarrow, kWidth> block(dynamic_shared(), channels);
  block.fill(p, coefficients, first);
  FromGlobal<kMap, T, kWidth> from(p);
  const Span span = span_of(walk, blockIdx.x % walk.splits);
  map_column<kMap, T, kWidth>(p, walk, block, first, span.begin, span.end, from);
}

// ---- the host's side ---------------------------------------------------------------------------------------

template <Map kMap, class T, int kWidth>
void launch_map_width(const char* name, const Program& p, const Geometry& geometry,
                      const double* coefficients, cudaStream_t stream) {
  constexpr bool kNarrow = ChannelMap<kMap, T>::kNarrow;
  const int lanes = geometry.walk.lanes;
  LaunchShape shape;
  shape.blocks = geometry.blocks;
  if (geometry.columns) {
    shape.shared_bytes = BlockCoefficients<kNarrow, kWidth>::bytes(lanes * kWidth);
    launch(name, map_columns<kMap, T, kWidth>, shape, stream, p, geometry.walk, coefficients);
  } else {
    shape.shared_bytes = BlockCoefficients<kNarrow, 1>::bytes(kBlock / lanes);
    launch(name, map_rows<kMap, T, kWidth>, shape, stream, p, geometry.walk, coefficients);
  }
}

template <Map kMap, class T>
void launch_map_kind(const char* name, const Program& p, const Geometry& geometry, const double* coefficients,
                     cudaStream_t stream) {
  if (geometry.width == kVectorWidth<T>) {
    launch_map_width<kMap, T, kVectorWidth<T>>(name, p, geometry, coefficients, stream);
  } else {
    launch_map_width<kMap, T, 1>(name, p, geometry, coefficients, stream);
  }
}

template <class T>
void launch_map(const Program& p, const Geometry& geometry, const double* coefficients, cudaStream_t stream) {
  switch (p.map) {
    case Map::kNormalize:
      launch_map_kind<Map::kNormalize, T>("map_normalize", p, geometry, coefficients, stream);
      break;
    case Map::kBackward:
      launch_map_kind<Map::kBackward, T>("map_backward", p, geometry, coefficients, stream);
      break;
    case Map::kScale:
      launch_map_kind<Map::kScale, T>("map_scale", p, geometry, coefficients, stream);
      break;
    case Map::kQuantize:
      if constexpr (std::is_same<T, AnyElement>::value) {
        launch_map_kind<Map::kQuantize, T>("map_quantize", p, geometry, coefficients, stream);
      }
      break;
    case Map::kNone:
      break;
  }
}

}  // namespace bn::cuda
