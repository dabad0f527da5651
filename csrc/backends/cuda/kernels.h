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

// A channel's coefficients, as the finalize stage leaves them for the map stage.
struct MapChannel {
  ChannelCoefficients exact;
  Coefficients<float> narrow;
  int32_t in_double;  // `narrow` would lose more than a rounding
  int32_t unused;
};

// Parts of a reduction in the workspace, by words of 8 bytes.
template <class Part>
__device__ inline void store_part(Part* address, const Part& part) {
  static_assert(sizeof(Part) % sizeof(double) == 0, "parts are made of float64 numbers");
  constexpr int kWords = sizeof(Part) / sizeof(double);
  double words[kWords];
  memcpy(words, &part, sizeof(Part));
#pragma unroll
  for (int i = 0; i < kWords; ++i)
    store_global(reinterpret_cast<double*>(address) + i, words[i]);
}

template <class Part>
__device__ inline Part load_part(const Part* address) {
  constexpr int kWords = sizeof(Part) / sizeof(double);
  double words[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i)
    words[i] = load_global(reinterpret_cast<const double*>(address) + i);
  Part part;
  memcpy(&part, words, sizeof(Part));
  return part;
}

// reduce.cuh; T is float, Half, BFloat16, double or AnyElement.
template <class T>
void launch_reduce(const Program& p, const Geometry& geometry, void* parts, cudaStream_t stream);

// finalize.cu. `lanes` threads merge the parts of a channel: 1, a warp, or a block. `channels` is where the map
// stage's coefficients go, null if there is none.
void launch_finalize(const Program& p, int splits, int lanes, const void* parts, MapChannel* channels,
                     cudaStream_t stream);

// map.cuh
template <class T>
void launch_map(const Program& p, const Geometry& geometry, const MapChannel* channels, cudaStream_t stream);

// fill.cu
void launch_fills(const Program& p, cudaStream_t stream);

}  // namespace bn::cuda
