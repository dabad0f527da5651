// How threads walk a channel program's data: the part of the plan that kernels read.
//
// A channel's elements are numbered in vectors: `run` vectors along the innermost loop dimension, for each
// combination of the outer ones. Two geometries differ in what a vector is and which threads go together:
//
//     rows      a vector is elements in a row of the innermost dimension; a group of threads shares a channel
//     columns   a vector is neighbouring channels at one place; a block has lanes over channels and ranks over places
//
// With vectors of one element either reads any strides. Which thread takes which element follows from shapes and
// strides alone, never from an address, so that a result's bits do not depend on where tensors lie in memory.
#pragma once

#include "backends/cuda/device.h"
#include "core/program.h"

namespace bn::cuda {

// Division by a number known on the host, for dividends below 2^31 (Granlund and Montgomery 1994, "Division by
// invariant integers using multiplication").
struct Divider {
  uint32_t divisor = 1;
  uint32_t magic = 1;
  uint32_t shift = 0;

  static Divider by(uint32_t divisor) {
    uint32_t shift = 0;
    while (shift < 32 && (uint64_t{1} << shift) < divisor)
      ++shift;
    const uint64_t magic = ((uint64_t{1} << 32) * ((uint64_t{1} << shift) - divisor)) / divisor + 1;
    return {divisor, static_cast<uint32_t>(magic), shift};
  }

  __device__ uint32_t divide(uint32_t n) const {
    const uint32_t high = static_cast<uint32_t>(static_cast<uint64_t>(n) * magic >> 32);
    return (high + n) >> shift;
  }
};

struct Walk {
  // Vectors of a channel (rows) or places (columns), and how many go to one split.
  int64_t vectors = 0;
  int64_t chunk = 0;
  int32_t splits = 1;
  // Places along the innermost dimension.
  int64_t run = 1;
  Divider run_divider;
  // Elements of the innermost dimension: its last vector may be short (rows).
  int64_t run_elements = 1;
  // Dimensions outside the innermost; dividers of all but the outermost of them are used.
  int32_t outer_dims = 0;
  Divider outer_dividers[kMaxLoopDims - 1];
  // Too many vectors for the dividers: plain 64-bit division.
  bool wide = false;

  // Rows: threads that share a channel, a power of two. Columns: threads side by side over channels.
  int32_t lanes = kBlock;
  // Columns: vectors of channels.
  int64_t channel_vectors = 0;
};

// The vectors of one split.
struct Span {
  int64_t begin, end;
};

__device__ inline Span span_of(const Walk& walk, int64_t split) {
  const int64_t begin = split * walk.chunk;
  return {begin, begin + walk.chunk < walk.vectors ? begin + walk.chunk : walk.vectors};
}

// Position of one vector of a channel.
struct Place {
  int64_t row = 0;     // the outer dimensions, as one number
  int64_t column = 0;  // along the innermost
};

__device__ inline Place place_of(const Walk& walk, int64_t vector) {
  Place place;
  if (walk.outer_dims == 0) {
    place.column = vector;
  } else if (!walk.wide) {
    const uint32_t n = static_cast<uint32_t>(vector);
    const uint32_t row = walk.run_divider.divide(n);
    place.row = row;
    place.column = n - row * walk.run_divider.divisor;
  } else {
    place.row = vector / walk.run;
    place.column = vector - place.row * walk.run;
  }
  return place;
}

// Elements of the vector at a place of a row: the last one may be short.
template <int kWidth>
__device__ inline int row_vector_count(const Walk& walk, const Place& place) {
  if (kWidth == 1) return 1;
  const int64_t left = walk.run_elements - place.column * kWidth;
  return left < kWidth ? static_cast<int>(left) : kWidth;
}

// Adds to each tensor's offset (elements) what the place contributes. `step` is the elements of a vector along
// the innermost dimension: the vector's width for rows, 1 for columns.
template <int kTensors>
__device__ inline void add_offsets(const Program& p, const Walk& walk, const Place& place, int step,
                                   const DataArg* const (&args)[kTensors], int64_t (&offsets)[kTensors]) {
  const int innermost = p.loop_dims - 1;
  if (innermost < 0) return;
#pragma unroll
  for (int t = 0; t < kTensors; ++t)
    offsets[t] += place.column * step * args[t]->strides[innermost];
  int64_t rest = place.row;
  for (int d = walk.outer_dims - 1; d > 0; --d) {
    int64_t index;
    if (!walk.wide) {
      const uint32_t n = static_cast<uint32_t>(rest);
      const uint32_t quotient = walk.outer_dividers[d].divide(n);
      index = n - quotient * walk.outer_dividers[d].divisor;
      rest = quotient;
    } else {
      const int64_t quotient = rest / p.extents[d];
      index = rest - quotient * p.extents[d];
      rest = quotient;
    }
#pragma unroll
    for (int t = 0; t < kTensors; ++t)
      offsets[t] += index * args[t]->strides[d];
  }
  if (walk.outer_dims > 0) {
#pragma unroll
    for (int t = 0; t < kTensors; ++t)
      offsets[t] += rest * args[t]->strides[0];
  }
}

}  // namespace bn::cuda
