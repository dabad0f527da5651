// The stages as the host launches them, and what they pass to each other through the workspace.
#pragma once

#include "backends/cuda/device.h"
#include "backends/cuda/vector.h"
#include "backends/cuda/walk.h"
#include "core/program.h"
#include "math/map.h"

namespace bn::cuda {

// The geometry of one stage, chosen by plan.cpp.
struct Geometry {
  Walk walk;
  bool columns = false;
  int width = 1;  // elements of a vector: 1, or as many as fill 16 bytes
  unsigned blocks = 1;
};

// Records of one per channel lie in the workspace as planes of words: word w of all channels, then word w + 1. So
// threads that work on neighbouring channels read and write neighbouring words.
template <class Word, class Record>
__device__ inline void store_planes(Word* planes, int64_t channels, int64_t channel, const Record& record) {
  static_assert(sizeof(Record) % sizeof(Word) == 0, "records are made of words");
  constexpr int kWords = sizeof(Record) / sizeof(Word);
  Word words[kWords];
  memcpy(words, &record, sizeof(Record));
#pragma unroll
  for (int w = 0; w < kWords; ++w)
    store_global(planes + w * channels + channel, words[w]);
}

template <class Record, class Word>
__device__ inline Record load_planes(const Word* planes, int64_t channels, int64_t channel) {
  constexpr int kWords = sizeof(Record) / sizeof(Word);
  Word words[kWords];
#pragma unroll
  for (int w = 0; w < kWords; ++w)
    words[w] = load_global(planes + w * channels + channel);
  Record record;
  memcpy(&record, words, sizeof(Record));
  return record;
}

// The parts of a reduction: one set of planes for each split.
template <class Part>
__device__ inline double* planes_of_split(void* parts, int64_t channels, int64_t split) {
  return static_cast<double*>(parts) + split * channels * static_cast<int64_t>(sizeof(Part) / sizeof(double));
}
template <class Part>
__device__ inline const double* planes_of_split(const void* parts, int64_t channels, int64_t split) {
  return static_cast<const double*>(parts) +
         split * channels * static_cast<int64_t>(sizeof(Part) / sizeof(double));
}

// A channel's coefficients for maps in float32.
struct NarrowChannel {
  Coefficients<float> coefficients;
  uint32_t in_double;  // they would lose more than a rounding
};

// Coefficients as the finalize stage leaves them for the map stage: planes of ChannelCoefficients and of NarrowChannel.
struct MapChannels {
  double* exact = nullptr;
  uint32_t* narrow = nullptr;

  static constexpr uint64_t kBytes = sizeof(ChannelCoefficients) + sizeof(NarrowChannel);  // of a channel
  static MapChannels at(void* workspace, int64_t channels) {
    constexpr int64_t kExactWords = sizeof(ChannelCoefficients) / sizeof(double);
    double* exact = static_cast<double*>(workspace);
    return {exact, reinterpret_cast<uint32_t*>(exact + kExactWords * channels)};
  }
};

// The records of the channels from `first` on, kWidth of them for each of the `lanes` lanes that the block's threads
// form, through shared memory: every word is read once by a block. Missing channels are all zero.
template <class Record, class Word, int kWidth>
__device__ inline void load_planes_by_block(const Word* planes, int64_t channels, int64_t first, int lanes,
                                            Record (&records)[kWidth]) {
  constexpr int kWords = sizeof(Record) / sizeof(Word);
  const int together = lanes * kWidth;
  const int stride = lanes + 1;  // odd: neither writes nor reads pile up on one bank
  Word* shared = reinterpret_cast<Word*>(dynamic_shared());
  for (int n = threadIdx.x; n < together * kWords; n += kBlock) {
    const int w = n / together;
    const int m = n - w * together;
    const Word word = first + m < channels ? load_global(planes + w * channels + first + m) : Word{0};
    shared[(w * kWidth + m % kWidth) * stride + m / kWidth] = word;
  }
  __syncthreads();
  const int lane = threadIdx.x & (lanes - 1);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    Word words[kWords];
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      words[w] = shared[(w * kWidth + i) * stride + lane];
    memcpy(&records[i], words, sizeof(Record));
  }
}

// The shared memory that it takes.
template <class Record, int kWidth>
constexpr size_t shared_for_planes(int lanes) {
  return sizeof(Record) * kWidth * static_cast<size_t>(lanes + 1);
}

// reduce.cuh; T is float, Half, BFloat16, double or AnyElement.
template <class T>
void launch_reduce(const Program& p, const Geometry& geometry, void* parts, cudaStream_t stream);

// finalize.cu. `lanes` threads merge the parts of a channel: 1, a warp, or a block. `channels` is where the map
// stage's coefficients go, null if there is none.
void launch_finalize(const Program& p, int splits, int lanes, const void* parts, const MapChannels& channels,
                     cudaStream_t stream);

// map.cuh
template <class T>
void launch_map(const Program& p, const Geometry& geometry, const MapChannels& channels, cudaStream_t stream);

// fill.cu
void launch_fills(const Program& p, cudaStream_t stream);

}  // namespace bn::cuda
