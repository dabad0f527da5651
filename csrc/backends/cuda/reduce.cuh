// The reduce stage: one part per channel and split, into the workspace. Part (channel, split) is at
// parts[split * channels + channel].
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
  Loaded<T, kWidth> loaded;
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

template <template <class> class Reduction, class T, int kWidth>
__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    reduce_rows(const __grid_constant__ Program p, const __grid_constant__ Walk walk, void* parts) {
  using Channel = Reduction<T>;
  using Part = typename Channel::Part;
  const int lane = threadIdx.x & (walk.lanes - 1);
  const int64_t group = blockIdx.x / walk.splits;
  const int split = blockIdx.x % walk.splits;
  const int64_t channel = group * (kBlock / walk.lanes) + threadIdx.x / walk.lanes;
  const bool active = channel < p.channels;
  const bool aligned[3] = {base_aligned(p.x), base_aligned(p.dy), base_aligned(p.extra)};

  Channel sums;
  int64_t count = 0;
  if (active) {
    if constexpr (Channel::kUsesMean) sums.set_mean(reduction_mean(p, channel));
    const int64_t begin = split * walk.chunk;
    const int64_t end = begin + walk.chunk < walk.vectors ? begin + walk.chunk : walk.vectors;
    for (int64_t vector = begin + lane; vector < end; vector += int64_t{kInFlight} * walk.lanes) {
      Loaded<T, kWidth> loaded[kInFlight];
      int counts[kInFlight];
#pragma unroll
      for (int u = 0; u < kInFlight; ++u) {
        const int64_t mine = vector + int64_t{u} * walk.lanes;
        counts[u] = 0;
        if (mine < end) {
          const Place place = place_of(walk, mine);
          counts[u] = row_vector_count<kWidth>(walk, place);
          loaded[u] = load_place<Channel, T, kWidth>(p, walk, place, kWidth, channel, counts[u], aligned);
        }
      }
#pragma unroll
      for (int u = 0; u < kInFlight; ++u) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          if (i < counts[u]) sums.add(p, loaded[u], i, u == 0 && i == 0 && count == 0);
        }
        count += counts[u];
      }
    }
  }
  const Part part = fold_group(sums.part(count), walk.lanes, reinterpret_cast<Part*>(dynamic_shared()));
  if (active && lane == 0)
    store_planes(planes_of_split<Part>(parts, p.channels, split), p.channels, channel, part);
}

template <class Channel>
__host__ __device__ constexpr size_t shared_for_means(int channels) {
  return Channel::kUsesMean ? sizeof(double) * static_cast<size_t>(channels) : 0;
}

template <template <class> class Reduction, class T, int kWidth>
__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    reduce_columns(const __grid_constant__ Program p, const __grid_constant__ Walk walk, void* parts) {
  using Channel = Reduction<T>;
  using Part = typename Channel::Part;
  constexpr int kTogether = kWidth > 4 ? 2 : kInFlight;
  const int lane = threadIdx.x & (walk.lanes - 1);
  const int rank = threadIdx.x / walk.lanes;
  const int ranks = kBlock / walk.lanes;
  const int64_t group = blockIdx.x / walk.splits;
  const int split = blockIdx.x % walk.splits;
  const int64_t channel = (group * walk.lanes + lane) * kWidth;
  const int64_t left = p.channels - channel;
  const int width = left >= kWidth ? kWidth : (left > 0 ? static_cast<int>(left) : 0);
  const bool aligned[3] = {base_aligned(p.x), base_aligned(p.dy), base_aligned(p.extra)};

  Channel sums[kWidth];
  const int channels_of_block = walk.lanes * kWidth;
  const int64_t first_channel = group * channels_of_block;
  if constexpr (Channel::kUsesMean) {
    // Each mean is read once by the block. Lane after lane in shared memory: no bank serves two lanes.
    double* means = reinterpret_cast<double*>(dynamic_shared());
    for (int mine = threadIdx.x; mine < channels_of_block; mine += kBlock) {
      const int64_t c = first_channel + mine;
      if (c < p.channels) means[mine % kWidth * walk.lanes + mine / kWidth] = reduction_mean(p, c);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if (i < width) sums[i].set_mean(means[i * walk.lanes + lane]);
    }
  }
  int64_t count = 0;
  if (width > 0) {
    const int64_t begin = split * walk.chunk;
    const int64_t end = begin + walk.chunk < walk.vectors ? begin + walk.chunk : walk.vectors;
    for (int64_t vector = begin + rank; vector < end; vector += int64_t{kTogether} * ranks) {
      Loaded<T, kWidth> loaded[kTogether];
#pragma unroll
      for (int u = 0; u < kTogether; ++u) {
        const int64_t mine = vector + int64_t{u} * ranks;
        if (mine < end) {
          loaded[u] =
              load_place<Channel, T, kWidth>(p, walk, place_of(walk, mine), 1, channel, width, aligned);
        }
      }
#pragma unroll
      for (int u = 0; u < kTogether; ++u) {
        if (vector + int64_t{u} * ranks < end) {
#pragma unroll
          for (int i = 0; i < kWidth; ++i)
            sums[i].add(p, loaded[u], i, u == 0 && count == 0);
          ++count;
        }
      }
    }
  }
  // The ranks inside a warp by shuffles, then the warps through shared memory, one channel a thread.
  const int lane_of_warp = threadIdx.x % kWarp;
  Part* shared = reinterpret_cast<Part*>(dynamic_shared() + shared_for_means<Channel>(channels_of_block));
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    Part part = sums[i].part(count);
    for (int delta = kWarp / 2; delta >= walk.lanes; delta /= 2)
      part = merge(part, shuffle_down(part, delta));
    if (lane_of_warp < walk.lanes) shared[threadIdx.x / kWarp * channels_of_block + lane * kWidth + i] = part;
  }
  __syncthreads();
  for (int mine = threadIdx.x; mine < channels_of_block; mine += kBlock) {
    const int64_t c = first_channel + mine;
    if (c >= p.channels) break;
    Part part = shared[mine];
    for (int warp = 1; warp < kBlock / kWarp; ++warp)
      part = merge(part, shared[warp * channels_of_block + mine]);
    store_planes(planes_of_split<Part>(parts, p.channels, split), p.channels, c, part);
  }
}

// ---- the host's side: one function per element type, so that each is compiled in its own file ------------------

template <template <class> class Reduction, class T>
void launch_reduction(const char* name, const Program& p, const Geometry& geometry, void* parts,
                      cudaStream_t stream) {
  constexpr int kWide = kVectorWidth<T>;
  using Part = typename Reduction<T>::Part;
  LaunchShape shape;
  shape.blocks = geometry.blocks;
  if (geometry.columns) {
    const int channels = geometry.walk.lanes * geometry.width;
    shape.shared_bytes =
        shared_for_means<Reduction<T>>(channels) + sizeof(Part) * channels * (kBlock / kWarp);
    launch(name,
           geometry.width == kWide ? reduce_columns<Reduction, T, kWide> : reduce_columns<Reduction, T, 1>,
           shape, stream, p, geometry.walk, parts);
  } else {
    shape.shared_bytes = geometry.walk.lanes > kWarp ? sizeof(Part) * (kBlock / kWarp) : 0;
    launch(name, geometry.width == kWide ? reduce_rows<Reduction, T, kWide> : reduce_rows<Reduction, T, 1>,
           shape, stream, p, geometry.walk, parts);
  }
}

template <class T>
void launch_reduce(const Program& p, const Geometry& geometry, void* parts, cudaStream_t stream) {
  switch (p.reduce) {
    case Reduce::kMoments:
      launch_reduction<MomentsChannel, T>("reduce_moments", p, geometry, parts, stream);
      break;
    case Reduce::kSums:
      launch_reduction<SumsChannel, T>("reduce_sums", p, geometry, parts, stream);
      break;
    case Reduce::kDyDotXmu:
      launch_reduction<DyDotXmuChannel, T>("reduce_dy_dot_xmu", p, geometry, parts, stream);
      break;
    case Reduce::kNone:
      break;
  }
}

}  // namespace bn::cuda
