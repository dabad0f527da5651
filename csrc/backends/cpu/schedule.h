// The CPU's plan for one program, in the terms of its kernels: which path, how the work is cut.
//
// Every channel's elements are cut into tiles; a tile is summed in fixed lanes, tiles are merged as a balanced tree.
// Tasks take whole tiles, and splits of a channel a power of two of them, so that the tree stays what it is.
//
// Accuracy of a sum. A lane adds at most kChain terms in a row within a tile; lanes are merged by 4 more additions
// (16 lanes), tiles by at most 40 (a tree over 2^40 tiles); virtual columns and remainders of channels-last data by
// at most 20. Forming a term costs 2. The chain is below kRoundings, so an output is within
//     0.5 ulp + kRoundings * 2^-53 * sum |terms|
// of the exact sum.
#pragma once

#include "backends/cpu/plan.h"
#include "core/program.h"

namespace bn::cpu {

inline constexpr int kChain = 256;
inline constexpr int kRoundings = 512;
inline constexpr int kLanes = 16;
static_assert(kChain + 4 + 40 + 20 + 2 <= kRoundings, "the published accuracy of sums");

inline constexpr int kMaxBlock = 64;        // channels that the rows and packed paths take together
inline constexpr int kPackChannels = 16;    // most channels packed together
inline constexpr int kPackElements = 2048;  // elements of one tensor packed together
inline constexpr int kColumnBlock = 256;    // columns that the channels-last path takes together
inline constexpr int kMaxRepeat = 16;       // positions side by side in a row of the channels-last path

inline constexpr int kCoefficientFields = 5;  // of CoefficientsOf, math/map.h
inline constexpr int kPlanePadding = 8;       // values behind an array of one field: whole vectors are read

enum TensorIndex : int8_t { kX, kDy, kExtra, kOut, kGradResidual, kTensors };

enum class Path : int8_t {
  kChannels,      // no data: finalize or fill only
  kRows,          // the innermost dimension is contiguous in every tensor, all of one type
  kChannelsLast,  // channels are contiguous in every tensor, all of one type
  kPacked,        // anything else: packed piece by piece into buffers, and computed on there
};

enum class Stage : int8_t { kFill, kFused, kReduce, kFinalize, kMap };

// One data tensor, its loop dimensions reordered, merged and flipped alike for all tensors.
struct DataView {
  int64_t offset = 0;  // elements, from the program's element 0
  int64_t channel_stride = 0;
  int64_t strides[kMaxLoopDims] = {};
  DType dtype = DType::kUndefined;  // kUndefined: absent
};

struct Schedule : Plan {
  Path path = Path::kChannels;
  Stage stage[kMaxStages] = {};
  DType elem = DType::kUndefined;  // what kernels are instantiated for

  int loop_dims = 0;  // at least 1 where there is data
  int64_t extents[kMaxLoopDims] = {};
  DataView views[kTensors];
  uint8_t reduce_reads = 0;  // bit t: the stage touches tensor t
  uint8_t map_reads = 0;
  uint8_t map_writes = 0;

  // Units are the steps of a walk over one channel: pieces of rows, or positions side by side.
  int64_t unit_length = 0;    // elements of a full unit
  int64_t units = 0;          // per channel
  int64_t units_per_row = 1;  // rows: a row is cut into so many
  int64_t units_per_tile = 1;
  int64_t tiles = 0;      // per channel
  int64_t repeat = 1;     // channels last: positions side by side in one unit
  int64_t remainder = 0;  // channels last: positions that make no whole unit

  int64_t block = 1;              // channels whose walk is shared
  int64_t channels_per_task = 1;  // a multiple of block, or all channels
  int64_t splits = 1;             // of a channel's tiles, over tasks
  int64_t tiles_per_split = 0;
  int64_t finalize_channels = 64;  // channels of a finalize task
  int64_t fused_units = 1;         // that a fused task maps at a time
  bool joined_rows = false;        // rows: those of a block of channels are mapped as one run
  bool stream_out = false;         // outputs go past the caches

  int64_t partials_at = 0;      // workspace, bytes
  int64_t coefficients_at = 0;  // an array for each field

  std::string describe() const override;
};

}  // namespace bn::cpu
