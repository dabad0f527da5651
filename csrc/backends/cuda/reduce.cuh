// The reduce stage: one part per channel and split, into the workspace; or, where a channel is one split, its outputs
// at once.
#pragma once

#include "backends/cuda/kernels.h"
#include "backends/cuda/reductions.h"
#include "backends/cuda/walk.h"

namespace bn::cuda {

// Loads what a reduction reads at one place. `element` is the offset of the channel (rows) or of the channel
// vector (columns) in units of channels.
template <class Channel, class T, int kWidth>
__device__ inline Loaded<T, kWidth> load_place(const Program& p, const Walk& walk, const Place& place,
                                               int step, int64_t channel, int count,
                                               const bool (&aligned)[3]) {
  Loaded<T, kWidth> loaded{};
  if constexpr (Channel::kUsesDy) {
    int64_t offsets[2] = {channel * p.x.channel_stride, channel * p.dy.channel_stride};
    add_offsets<2>(p, walk, place, step, {&p.x, &p.dy}, offsets);
    loaded.x = Vector<T, kWidth>::load(p.x, offsets[0], count, aligned[0]);
    loaded.dy = Vector<T, kWidth>::load(p.dy, offsets[1], count, aligned[1]);
    if (p.relu && present(p.extra)) {
      int64_t offset[1] = {channel * p.extra.channel_stride};
      add_offsets<1>(p, walk, place, step, {&p.extra}, offset);
      loaded.extra = Vector<T, kWidth>::load(p.extra, offset[0], count, aligned[2]);
    }
  } else {
    int64_t offset[1] = {channel * p.x.channel_stride};
    add_offsets<1>(p, walk, place, step, {&p.x}, offset);
    loaded.x = Vector<T, kWidth>::load(p.x, offset[0], count, aligned[0]);
  }
  return loaded;
}

inline constexpr int kInFlight = 4;  // vectors that a thread loads before it uses the first

// What else happens to the data that a reduction loads: nothing. (Or it is kept: fused.cuh.)
struct KeepNothing {
  template <class Loaded>
  __device__ void keep(const Program&, const Loaded&) {}
};

// The part of a split of a channel that falls to this thread.
template <class Channel, class T, int kWidth, class Keep>
__device__ inline typename Channel::Part reduce_row(const Program& p, const Walk& walk, int64_t channel,
                                                    const Span& span, Keep& keep) {
  const bool aligned[3] = {base_aligned(p.x), base_aligned(p.dy), base_aligned(p.extra)};
  const int lane = threadIdx.x & (walk.lanes - 1);
  Channel sums;
  int64_t count = 0;
  if constexpr (Channel::kUsesMean) sums.set_mean(reduction_mean(p, channel));
  for (int64_t vector = span.begin + lane; vector < span.end; vector += int64_t{kInFlight} * walk.lanes) {
    Loaded<T, kWidth> loaded[kInFlight];
    int counts[kInFlight];
#pragma unroll
    for (int u = 0; u < kInFlight; ++u) {
      const int64_t mine = vector + int64_t{u} * walk.lanes;
      counts[u] = 0;
      if (mine < span.end) {
        const Place place = place_of(walk, mine);
        counts[u] = row_vector_count<kWidth>(walk, place);
        loaded[u] = load_place<Channel, T, kWidth>(p, walk, place, kWidth, channel, counts[u], aligned);
      }
    }
#pragma unroll
    for (int u = 0; u < kInFlight; ++u) {
      if (counts[u] > 0) keep.keep(p, loaded[u]);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        if (i < counts[u]) sums.add(p, loaded[u], i, u == 0 && i == 0 && count == 0);
      }
      count += counts[u];
    }
  }
  return sums.part(count);
}

// The means of the channels of a block, from `first` on, each read once by the block. Lane after lane: no bank of
// shared memory serves two lanes.
template <class Channel, int kWidth>
__device__ inline void load_means(const Program& p, const Walk& walk, int64_t first, double* means) {
  if constexpr (Channel::kUsesMean) {
    const int mine = threadIdx.x;
    if (mine < walk.lanes * kWidth && first + mine < p.channels)
      means[mine % kWidth * walk.lanes + mine / kWidth] = reduction_mean(p, first + mine);
    __syncthreads();
  }
}

// The parts of a split of the thread's channels, folded over the block: thread m returns that of channel first + m.
// `shared` has room for one part per warp and channel.
template <class Channel, class T, int kWidth, class Keep>
__device__ inline typename Channel::Part reduce_column(const Program& p, const Walk& walk, int64_t first,
                                                       const Span& span, const double* means,
                                                       typename Channel::Part* shared, Keep& keep) {
  using Part = typename Channel::Part;
  constexpr int kTogether = kWidth > 4 ? 2 : kInFlight;
  const bool aligned[3] = {base_aligned(p.x), base_aligned(p.dy), base_aligned(p.extra)};
  const int lane = threadIdx.x & (walk.lanes - 1);
  const int rank = threadIdx.x / walk.lanes;
  const int ranks = kBlock / walk.lanes;
  const int64_t channel = first + lane * kWidth;
  const int64_t left = p.channels - channel;
  const int width = left >= kWidth ? kWidth : (left > 0 ? static_cast<int>(left) : 0);
  Channel sums[kWidth];
  if constexpr (Channel::kUsesMean) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if (i < width) sums[i].set_mean(means[i * walk.lanes + lane]);
    }
  }
  int64_t count = 0;
  if (width > 0) {
    for (int64_t vector = span.begin + rank; vector < span.end; vector += int64_t{kTogether} * ranks) {
      Loaded<T, kWidth> loaded[kTogether];
#pragma unroll
      for (int u = 0; u < kTogether; ++u) {
        const int64_t mine = vector + int64_t{u} * ranks;
        if (mine < span.end) {
          loaded[u] =
              load_place<Channel, T, kWidth>(p, walk, place_of(walk, mine), 1, channel, width, aligned);
        }
      }
#pragma unroll
      for (int u = 0; u < kTogether; ++u) {
        if (vector + int64_t{u} * ranks < span.end) {
          keep.keep(p, loaded[u]);
#pragma unroll
          for (int i = 0; i < kWidth; ++i)
            sums[i].add(p, loaded[u], i, u == 0 && count == 0);
          ++count;
        }
      }
    }
  }
  // The ranks inside a warp by shuffles, then the warps through shared memory, one channel a thread.
  const int channels = walk.lanes * kWidth;
  const int lane_of_warp = threadIdx.x % kWarp;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    Part part = sums[i].part(count);
    for (int delta = kWarp / 2; delta >= walk.lanes; delta /= 2)
      part = merge(part, shuffle_down(part, delta));
    if (lane_of_warp < walk.lanes) shared[threadIdx.x / kWarp * channels + lane * kWidth + i] = part;
  }
  __syncthreads();
  const int mine = threadIdx.x;
  if (mine >= channels || first + mine >= p.channels) return {};
  Part part = shared[mine];
  for (int warp = 1; warp < kBlock / kWarp; ++warp)
    part = merge(part, shared[warp * channels + mine]);
  return part;
}
static_assert(kWarp * kVectorWidth<Half> <= kBlock, "a thread for each channel of a block");

// A channel's part leaves the kernel: as it is, or finalized (launch_reduce).
template <class Part>
__device__ inline void deliver(const Program& p, void* parts, double* coefficients, int split,
                               int64_t channel, const Part& part) {
  if (parts != nullptr) {
    store_planes(planes_of_split<Part>(parts, p.channels, split), p.channels, channel, part);
    return;
  }
  const ChannelCoefficients exact = finalize(p, channel, totals_of(merge(Part{}, part)), 0);
  if (coefficients != nullptr) store_planes(coefficients, p.channels, channel, exact);
}

template <template <class> class Reduction, class T, int kWidth>
__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    reduce_rows(const __grid_constant__ Program p, const __grid_constant__ Walk walk, void* parts,
                double* coefficients) {
  using Part = typename Reduction<T>::Part;
  const int split = blockIdx.x % walk.splits;
  const int64_t channel = blockIdx.x / walk.splits * int64_t{kBlock / walk.lanes} + threadIdx.x / walk.lanes;
  const bool active = channel < p.channels;
  Part part{};
  KeepNothing nothing;
  if (active) part = reduce_row<Reduction<T>, T, kWidth>(p, walk, channel, span_of(walk, split), nothing);
  part = fold_group(part, walk.lanes, reinterpret_cast<Part*>(dynamic_shared()));
  if (active && threadIdx.x % walk.lanes == 0) deliver(p, parts, coefficients, split, channel, part);
}

// The shared memory of reduce_column: means, then parts.
template <class Channel>
__host__ __device__ constexpr size_t shared_for_means(int channels) {
  return Channel::kUsesMean ? sizeof(double) * static_cast<size_t>(channels) : 0;
}
template <class Channel>
__host__ __device__ constexpr size_t shared_for_columns(int channels) {
  return shared_for_means<Channel>(channels) +
         sizeof(typename Channel::Part) * static_cast<size_t>(channels) * (kBlock / kWarp);
}

template <template <class> class Reduction, class T, int kWidth>
__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    reduce_columns(const __grid_constant__ Program p, const __grid_constant__ Walk walk, void* parts,
                   double* coefficients) {
  using Channel = Reduction<T>;
  using Part = typename Channel::Part;
  const int channels = walk.lanes * kWidth;
  const int split = blockIdx.x % walk.splits;
  const int64_t first = blockIdx.x / walk.splits * int64_t{channels};
  double* means = reinterpret_cast<double*>(dynamic_shared());
  load_means<Channel, kWidth>(p, walk, first, means);
  KeepNothing nothing;
  const Part part = reduce_column<Channel, T, kWidth>(
      p, walk, first, span_of(walk, split), means,
      reinterpret_cast<Part*>(dynamic_shared() + shared_for_means<Channel>(channels)), nothing);
  const int mine = threadIdx.x;
  if (mine < channels && first + mine < p.channels)
    deliver(p, parts, coefficients, split, first + mine, part);
}

// ---- the host's side: one function per element type, so that each is compiled in its own file ------------------

template <template <class> class Reduction, class T>
void launch_reduction(const char* name, const Program& p, const Geometry& geometry, void* parts,
                      double* coefficients, cudaStream_t stream) {
  constexpr int kWide = kVectorWidth<T>;
  using Part = typename Reduction<T>::Part;
  LaunchShape shape;
  shape.blocks = geometry.blocks;
  if (geometry.columns) {
    shape.shared_bytes = shared_for_columns<Reduction<T>>(geometry.walk.lanes * geometry.width);
    launch(name,
           geometry.width == kWide ? reduce_columns<Reduction, T, kWide> : reduce_columns<Reduction, T, 1>,
           shape, stream, p, geometry.walk, parts, coefficients);
  } else {
    shape.shared_bytes = geometry.walk.lanes > kWarp ? sizeof(Part) * (kBlock / kWarp) : 0;
    launch(name, geometry.width == kWide ? reduce_rows<Reduction, T, kWide> : reduce_rows<Reduction, T, 1>,
           shape, stream, p, geometry.walk, parts, coefficients);
  }
}

template <class T>
void launch_reduce(const Program& p, const Geometry& geometry, void* parts, double* coefficients,
                   cudaStream_t stream) {
  switch (p.reduce) {
    case Reduce::kMoments:
      launch_reduction<MomentsChannel, T>("reduce_moments", p, geometry, parts, coefficients, stream);
      break;
    case Reduce::kSums:
      launch_reduction<SumsChannel, T>("reduce_sums", p, geometry, parts, coefficients, stream);
      break;
    case Reduce::kDyDotXmu:
      launch_reduction<DyDotXmuChannel, T>("reduce_dy_dot_xmu", p, geometry, parts, coefficients, stream);
      break;
    case Reduce::kNone:
      break;
  }
}

}  // namespace bn::cuda
