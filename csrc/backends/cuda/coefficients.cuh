// The coefficients of a block's channels, in shared memory, where every thread of the block finds them.
#pragma once

#include "backends/cuda/kernels.h"
#include "math/finalize.h"

namespace bn::cuda {

// A channel's coefficients for maps in float32.
struct NarrowChannel {
  Coefficients<float> coefficients;
  uint32_t in_double;  // they would lose more than a rounding
};

// Records as planes of words: threads that work on neighbouring vectors read neighbouring words. kNarrow: maps are in
// float32, but for channels that would lose by it. Those are rare, and read the exact coefficients again and again.
template <bool kNarrow, int kWidth>
class BlockCoefficients {
 public:
  using Record = std::conditional_t<kNarrow, NarrowChannel, ChannelCoefficients>;

  __host__ __device__ static constexpr size_t bytes(int channels) {
    return static_cast<size_t>(channels) *
           (sizeof(ChannelCoefficients) + (kNarrow ? sizeof(NarrowChannel) : 0));
  }

  __device__ BlockCoefficients(unsigned char* shared, int channels)
      : exact_(reinterpret_cast<double*>(shared)),
        narrow_(reinterpret_cast<uint32_t*>(exact_ + kExactWords * channels)),
        channels_(channels) {}

  __device__ void store(int channel, const ChannelCoefficients& exact) const {
    scatter(exact_, channel, exact);
    if constexpr (kNarrow) {
      scatter(narrow_, channel, NarrowChannel{coefficients_f32(exact), fits_f32(exact) ? 0u : 1u});
    }
  }

  __device__ ChannelCoefficients exact(int channel) const {
    return gather<ChannelCoefficients>(exact_, channel);
  }

  __device__ Record load(int channel) const {
    if constexpr (kNarrow) {
      return gather<NarrowChannel>(narrow_, channel);
    } else {
      return exact(channel);
    }
  }

  // From the workspace, or made here. The block's channels are those from `first` on.
  __device__ void fill(const Program& p, const double* coefficients, int64_t first) const {
    const int mine = threadIdx.x;
    if (mine < channels_ && first + mine < p.channels) {
      if (coefficients != nullptr) {
        store(mine, load_planes<ChannelCoefficients>(coefficients, p.channels, first + mine));
      } else {
        const double count = p.finalize == Finalize::kElemtBackward ? counter_total(p.counts) : 0.0;
        store(mine, finalize(p, first + mine, Totals{}, count));
      }
    }
    __syncthreads();
  }

 private:
  static constexpr int kExactWords = sizeof(ChannelCoefficients) / sizeof(double);

  // The first channels of all vectors, then the second ones, and so on.
  __device__ int place(int channel) const {
    return channel % kWidth * (channels_ / kWidth) + channel / kWidth;
  }

  template <class Word, class Packed>
  __device__ void scatter(Word* planes, int channel, const Packed& record) const {
    constexpr int kWords = sizeof(Packed) / sizeof(Word);
    Word words[kWords];
    memcpy(words, &record, sizeof(Packed));
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      planes[w * channels_ + place(channel)] = words[w];
  }

  template <class Packed, class Word>
  __device__ Packed gather(const Word* planes, int channel) const {
    constexpr int kWords = sizeof(Packed) / sizeof(Word);
    Word words[kWords];
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      words[w] = planes[w * channels_ + place(channel)];
    Packed record;
    memcpy(&record, words, sizeof(Packed));
    return record;
  }

  double* exact_;
  uint32_t* narrow_;
  int channels_;
};

}  // namespace bn::cuda
