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

// ---- the stages --------------------------------------------------------------------------------------------
//
// A kernel runs one stage or several. The coefficients of a map come from the workspace, where an earlier kernel left
// them as planes of ChannelCoefficients, or the kernel makes them itself: then `coefficients` is null.

// reduce.cuh; T is float, Half, BFloat16, double or AnyElement. Without `parts` the kernel finalizes, too: a channel
// has one split then, and its coefficients, if a map wants them, go to `coefficients`.
template <class T>
void launch_reduce(const Program& p, const Geometry& geometry, void* parts, double* coefficients,
                   cudaStream_t stream);

// finalize.cu. `lanes` threads merge the parts of a channel: 1, a warp, or a block. `coefficients` is null if there is
// no map.
void launch_finalize(const Program& p, int splits, int lanes, const void* parts, double* coefficients,
                     cudaStream_t stream);

// map.cuh
template <class T>
void launch_map(const Program& p, const Geometry& geometry, const double* coefficients, cudaStream_t stream);

// fused.cuh: all three stages in one kernel, which needs so much shared memory of a block; 0 if there is none for the
// program's stages. `shared_limit` is the most that a block of the device can have.
template <class T>
size_t shared_for_fused(const Program& p, const Geometry& geometry);
template <class T>
void launch_fused(const Program& p, const Geometry& geometry, int shared_limit, cudaStream_t stream);

// fill.cu
void launch_fills(const Program& p, cudaStream_t stream);

}  // namespace bn::cuda
