// All stages of a program in one kernel: a block reduces its channels, finalizes them and maps them, and keeps what it
// read in shared memory in between, so that the data crosses global memory once each way.
//
// The stages are those of reduce.cuh, finalize.h and map.cuh, and each channel is summed as the separate kernels would
// do it, split after split: the bits are the same. A thread maps the vectors that it loaded itself, in the same order,
// so none needs another's; and a block has read all of its channels before it writes any, so outputs may take the place
// of inputs.
#pragma once

#include "backends/cuda/map.cuh"
#include "backends/cuda/reduce.cuh"

namespace bn::cuda {

// The vectors of a thread between reduction and map, as they came but for dy, which is kept as the activation lets it
// through. Thread after thread, so that no bank serves two.
template <Map kMap, class T, int kWidth>
class Stash {
 public:
  using Kept = Vector<T, kWidth>;
  static constexpr int kTensors = (kReadsX<kMap> ? 1 : 0) + (kReadsDy<kMap> ? 1 : 0);

  // For a block whose threads have up to so many vectors each.
  static size_t bytes(int64_t vectors) {
    return static_cast<size_t>(vectors) * kTensors * kBlock * sizeof(Kept);
  }

  __device__ explicit Stash(unsigned char* shared) : next_(reinterpret_cast<Kept*>(shared) + threadIdx.x) {
    start_ = next_;
  }

  __device__ void keep(const Program& p, const Loaded<T, kWidth>& loaded) {
    if constexpr (kReadsX<kMap>) push(loaded.x);
    if constexpr (kReadsDy<kMap>) {
      Kept dy = loaded.dy;
      if (p.relu && present(p.extra)) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          if (!(loaded.extra.template get<double>(p.extra, i) > 0.0)) dy.clear(i);
        }
      }
      push(dy);
    }
  }

  // From here on `next` gives what `keep` was given.
  __device__ void rewind(const Program& p) {
    next_ = start_;
    residual_ = kMap == Map::kNormalize && present(p.extra);
  }

  __device__ bool extra() const { return residual_; }

  __device__ Mapped<T, kWidth> next(const Program& p, const Walk& walk, const MapPlace& at, int step,
                                    int64_t channel, bool aligned) {
    Mapped<T, kWidth> in;
    if constexpr (kReadsX<kMap>) in.x = pop();
    if constexpr (kReadsDy<kMap>) in.dy = pop();
    if (residual_) {
      in.extra = Kept::load(p.extra, offset_of(p, walk, at.place, step, p.extra, channel), at.count, aligned);
    }
    return in;
  }

 private:
  // 16 bytes at once where a vector has them.
  using Word = std::conditional_t<sizeof(Kept) == 16, Bytes16, Kept>;

  __device__ void push(const Kept& vector) {
    Word word;
    memcpy(&word, &vector, sizeof(Word));
    *reinterpret_cast<Word*>(next_) = word;
    next_ += kBlock;
  }
  __device__ Kept pop() {
    const Word word = *reinterpret_cast<const Word*>(next_);
    Kept vector;
    memcpy(&vector, &word, sizeof(Word));
    next_ += kBlock;
    return vector;
  }

  Kept* next_;
  Kept* start_;
  bool residual_ = false;
};

// The shared memory of a block.
template <class Channel, Map kMap, class T, int kWidth>
struct FusedShared {
  using Part = typename Channel::Part;
  static constexpr bool kNarrow = ChannelMap<kMap, T>::kNarrow;

  size_t coefficients = 0;  // behind what the reduction needs
  size_t stash = 0;         // a multiple of 16

  __host__ __device__ FusedShared(const Walk& walk, bool columns) {
    const int channels = columns ? walk.lanes * kWidth : kBlock / walk.lanes;
    coefficients = columns ? shared_for_columns<Channel>(channels) : sizeof(Part) * (kBlock / kWarp);
    const size_t end = coefficients + BlockCoefficients<kNarrow, 1>::bytes(channels);
    stash = (end + 15) / 16 * 16;
  }

  size_t bytes(const Walk& walk, bool columns) const {
    const int64_t threads = columns ? kBlock / walk.lanes : walk.lanes;  // that share a channel's vectors
    return stash + Stash<kMap, T, kWidth>::bytes((walk.vectors + threads - 1) / threads);
  }
};

template <template <class> class Reduction, Map kMap, class T, int kWidth>
__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    fused_rows(const __grid_constant__ Program p, const __grid_constant__ Walk walk) {
  using Channel = Reduction<T>;
  using Part = typename Channel::Part;
  const FusedShared<Channel, kMap, T, kWidth> layout(walk, false);
  const int channels = kBlock / walk.lanes;
  const int mine = threadIdx.x / walk.lanes;
  const int64_t channel = blockIdx.x * int64_t{channels} + mine;
  const bool active = channel < p.channels;
  Stash<kMap, T, kWidth> stash(dynamic_shared() + layout.stash);

  Part total{};
  for (int split = 0; split < walk.splits; ++split) {
    Part part{};
    if (active) part = reduce_row<Channel, T, kWidth>(p, walk, channel, span_of(walk, split), stash);
    if (split > 0) __syncthreads();  // the last fold's shared memory is read
    part = fold_group(part, walk.lanes, reinterpret_cast<Part*>(dynamic_shared()));
    total = merge(total, part);
  }
  const BlockCoefficients<ChannelMap<kMap, T>::kNarrow, 1> block(dynamic_shared() + layout.coefficients,
                                                                 channels);
  if (active && threadIdx.x % walk.lanes == 0) block.store(mine, finalize(p, channel, totals_of(total), 0));
  __syncthreads();
  if (!active) return;
  stash.rewind(p);
  map_row<kMap, T, kWidth>(p, walk, block, channel, mine, 0, walk.vectors, stash);
}

template <template <class> class Reduction, Map kMap, class T, int kWidth>
__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    fused_columns(const __grid_constant__ Program p, const __grid_constant__ Walk walk) {
  using Channel = Reduction<T>;
  using Part = typename Channel::Part;
  const FusedShared<Channel, kMap, T, kWidth> layout(walk, true);
  const int channels = walk.lanes * kWidth;
  const int mine = threadIdx.x;
  const int64_t first = blockIdx.x * int64_t{channels};
  Stash<kMap, T, kWidth> stash(dynamic_shared() + layout.stash);
  double* means = reinterpret_cast<double*>(dynamic_shared());
  load_means<Channel, kWidth>(p, walk, first, means);

  Part total{};
  for (int split = 0; split < walk.splits; ++split) {
    if (split > 0) __syncthreads();  // the last fold's shared memory is read
    total = merge(
        total, reduce_column<Channel, T, kWidth>(
                   p, walk, first, span_of(walk, split), means,
                   reinterpret_cast<Part*>(dynamic_shared() + shared_for_means<Channel>(channels)), stash));
  }
  const BlockCoefficients<ChannelMap<kMap, T>::kNarrow, kWidth> block(dynamic_shared() + layout.coefficients,
                                                                      channels);
  if (mine < channels && first + mine < p.channels)
    block.store(mine, finalize(p, first + mine, totals_of(total), 0));
  __syncthreads();
  stash.rewind(p);
  map_column<kMap, T, kWidth>(p, walk, block, first, 0, walk.vectors, stash);
}

// ---- the host's side ---------------------------------------------------------------------------------------

// Calls use(reduction, map, width, name), values that stand for types and constants, for the stages of the program.
template <template <class> class R>
struct ReductionTag {
  template <class T>
  using Channel = R<T>;
};

template <class T, class Use>
void with_stages(const Program& p, const Geometry& geometry, Use use) {
  const auto with_width = [&](auto reduction, auto map, const char* name) {
    if (geometry.width == kVectorWidth<T>) {
      use(reduction, map, std::integral_constant<int, kVectorWidth<T>>{}, name);
    } else {
      use(reduction, map, std::integral_constant<int, 1>{}, name);
    }
  };
  if (p.reduce == Reduce::kMoments && p.map == Map::kNormalize) {
    with_width(ReductionTag<MomentsChannel>{}, std::integral_constant<Map, Map::kNormalize>{},
               "fused_normalize");
  } else if (p.reduce == Reduce::kDyDotXmu && p.map == Map::kBackward) {
    with_width(ReductionTag<DyDotXmuChannel>{}, std::integral_constant<Map, Map::kBackward>{},
               "fused_backward");
  } else if (p.reduce == Reduce::kDyDotXmu && p.map == Map::kScale) {
    with_width(ReductionTag<DyDotXmuChannel>{}, std::integral_constant<Map, Map::kScale>{}, "fused_scale");
  }
}

template <class T>
size_t shared_for_fused(const Program& p, const Geometry& geometry) {
  size_t bytes = 0;
  with_stages<T>(p, geometry, [&](auto reduction, auto map, auto width, const char*) {
    using Channel = typename decltype(reduction)::template Channel<T>;
    using Shared = FusedShared<Channel, map.value, T, width.value>;
    bytes = Shared(geometry.walk, geometry.columns).bytes(geometry.walk, geometry.columns);
  });
  return bytes;
}

template <class T>
void launch_fused(const Program& p, const Geometry& geometry, int shared_limit, cudaStream_t stream) {
  LaunchShape shape;
  shape.blocks = geometry.blocks / static_cast<unsigned>(geometry.walk.splits);
  shape.shared_bytes = shared_for_fused<T>(p, geometry);
  shape.shared_limit = static_cast<size_t>(shared_limit);
  with_stages<T>(p, geometry, [&](auto reduction, auto map, auto width, const char* name) {
    constexpr Map kMap = decltype(map)::value;
    constexpr int kWidth = decltype(width)::value;
    launch(name,
           geometry.columns ? fused_columns<decltype(reduction)::template Channel, kMap, T, kWidth>
                            : fused_rows<decltype(reduction)::template Channel, kMap, T, kWidth>,
           shape, stream, p, geometry.walk);
  });
}

}  // namespace bn::cuda
