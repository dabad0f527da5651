// Phase one on the CPU: the program's layout decides the path, its size the cut into tasks.
#include <algorithm>
#include <cstdlib>

#include "backends/cpu/pool.h"
#include "backends/cpu/schedule.h"

namespace bn::cpu {
namespace {

// Memory traffic of a task, about: 10 to 20 microseconds of one core's share.
constexpr int64_t kTaskBytes = 256 << 10;
// What a channel costs beside its data, in bytes that could have been moved.
constexpr int64_t kChannelBytes = 1 << 10;
// Each thread finds a few, so that a late one is no matter; more than that, and they jump about in memory.
constexpr int64_t kTasksPerThread = 8;
constexpr int64_t kFewTasks = 16;
constexpr int64_t kMaxTasks = 256;
// From this size on, the order in which memory is read matters more than the cost of another stage.
constexpr int64_t kSequentialBytes = 4 << 20;
// What a fused task of channels-last data may read, so that the tasks of a few threads share a level-3 cache.
constexpr int64_t kBlockBytes = 4 << 20;
// Splits are merged one by one, for each channel.
constexpr int64_t kMaxSplits = 64;
// Short rows are walked over so many channels that memory is read in pieces of at least this size.
constexpr int64_t kPieceBytes = 12 << 10;
// Rows shorter than this are packed.
constexpr int64_t kShortestRow = 8;
constexpr int64_t kLongestUnit = kChain * kLanes;
// Positions are laid side by side only where as many steps are left: merging the repeats costs as much as some.
constexpr int64_t kShortestWalk = 64;
// Outputs from this size on are written past the caches.
constexpr int64_t kStreamBytes = 4 << 20;
// Runs shorter than this are not: their unaligned ends would be most of the work.
constexpr int64_t kShortestStreamed = 256;
// Rows of so many bytes are mapped as one run with those that follow them. Shorter ones can be less than a step of a
// vector; in longer ones it is no matter how they end.
constexpr int64_t kShortestJoinedBytes = 64;
constexpr int64_t kLongestJoinedBytes = 2048;
// A fused task whose channels are larger than this, a part of a level-2 cache, maps them in so many pieces, the last
// one first.
constexpr int64_t kCachedBytes = 512 << 10;
constexpr int64_t kFusedPieces = 8;
// Counters longer than this are not summed by every task.
constexpr int64_t kLongCounter = 64;
// The largest part (float64 data), in the workspace.
constexpr int64_t kPartBytes = 32;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}
int64_t round_up(int64_t a, int64_t b) {
  return ceil_div(a, b) * b;
}

// The tensors that a program's stages touch: bit t is set for TensorIndex t.
struct Uses {
  unsigned reads = 0;
  unsigned writes = 0;
  unsigned all() const { return reads | writes; }
};

Uses uses_of(const Program& p) {
  Uses uses;
  if (p.reduce != Reduce::kNone) uses.reads |= 1u << kX;
  if (p.reduce == Reduce::kDyDotXmu) uses.reads |= 1u << kDy;
  if (p.map != Map::kNone) uses.writes |= 1u << kOut;
  switch (p.map) {
    case Map::kNormalize:
      uses.reads |= 1u << kX;
      if (present(p.extra)) uses.reads |= 1u << kExtra;
      break;
    case Map::kBackward:
    case Map::kScale:
      uses.reads |= 1u << kDy;
      if (p.map == Map::kBackward) uses.reads |= 1u << kX;
      if (present(p.grad_residual)) uses.writes |= 1u << kGradResidual;
      break;
    case Map::kQuantize:
      uses.reads |= 1u << kX;
      break;
    case Map::kNone:
      break;
  }
  const bool backward = p.reduce == Reduce::kDyDotXmu || p.map == Map::kBackward || p.map == Map::kScale;
  if (p.relu && backward) uses.reads |= 1u << kExtra;
  return uses;
}

const DataArg& data_arg(const Program& p, int tensor) {
  const DataArg* args[kTensors] = {&p.x, &p.dy, &p.extra, &p.out, &p.grad_residual};
  return *args[tensor];
}

bool used(const Schedule& s, int tensor) {
  return s.views[tensor].dtype != DType::kUndefined;
}

template <class Predicate>
bool all_views(const Schedule& s, Predicate holds) {
  for (int t = 0; t < kTensors; ++t) {
    if (used(s, t) && !holds(s.views[t])) return false;
  }
  return true;
}

void swap_dims(Schedule& s, int a, int b) {
  std::swap(s.extents[a], s.extents[b]);
  for (DataView& view : s.views)
    std::swap(view.strides[a], view.strides[b]);
}

// Sum of the strides: dimensions are walked in falling order of it.
int64_t reach(const Schedule& s, int d) {
  int64_t sum = 0;
  for (const DataView& view : s.views)
    sum += std::abs(view.strides[d]);
  return sum;
}

// Loop dimensions in an order that suits memory: extents of 1 dropped, strides that run backwards in every tensor
// turned round, sorted with the smallest strides last, neighbours merged where every tensor allows it.
void set_views(Schedule& s, const Program& p, unsigned tensors) {
  for (int t = 0; t < kTensors; ++t) {
    if ((tensors >> t & 1) == 0) continue;
    s.views[t].dtype = data_arg(p, t).dtype;
    s.views[t].channel_stride = data_arg(p, t).channel_stride;
  }
  for (int d = 0; d < p.loop_dims; ++d) {
    if (p.extents[d] == 1) continue;
    bool forwards = false;
    bool backwards = false;
    for (int t = 0; t < kTensors; ++t) {
      if (!used(s, t)) continue;
      const int64_t stride = data_arg(p, t).strides[d];
      s.views[t].strides[s.loop_dims] = stride;
      forwards = forwards || stride > 0;
      backwards = backwards || stride < 0;
    }
    s.extents[s.loop_dims] = p.extents[d];
    if (backwards && !forwards) {
      for (DataView& view : s.views) {
        view.offset += (p.extents[d] - 1) * view.strides[s.loop_dims];
        view.strides[s.loop_dims] = -view.strides[s.loop_dims];
      }
    }
    // Insertion sort; a dimension with equal reach stays behind those before it.
    for (int i = s.loop_dims; i > 0 && reach(s, i) > reach(s, i - 1); --i)
      swap_dims(s, i, i - 1);
    ++s.loop_dims;
  }
  int last = 0;
  for (int d = 1; d < s.loop_dims; ++d) {
    const bool merges = all_views(
        s, [&](const DataView& view) { return view.strides[last] == view.strides[d] * s.extents[d]; });
    if (merges) {
      s.extents[last] *= s.extents[d];
    } else {
      s.extents[++last] = s.extents[d];
    }
    for (DataView& view : s.views)
      view.strides[last] = view.strides[d];
  }
  if (s.loop_dims == 0) {
    s.extents[0] = 1;
    for (DataView& view : s.views)
      view.strides[0] = 1;
  }
  s.loop_dims = std::max(1, s.loop_dims == 0 ? 1 : last + 1);
}

// Is there one position after the other, `channels` elements apart, in every tensor?
bool dense_positions(const Schedule& s, int64_t channels) {
  return s.loop_dims == 1 && all_views(s, [&](const DataView& view) { return view.strides[0] == channels; });
}

// Does each channel's row begin where the one of the channel before it ends, in every tensor?
bool rows_follow(const Schedule& s) {
  const int64_t length = s.extents[s.loop_dims - 1];
  return s.path == Path::kRows &&
         all_views(s, [&](const DataView& view) { return view.channel_stride == length; });
}

void choose_path(Schedule& s, const Program& p) {
  DType first = DType::kUndefined;
  bool wide = p.map == Map::kQuantize;
  bool uniform = true;
  for (int t = 0; t < kTensors; ++t) {
    if (!used(s, t)) continue;
    const DType dtype = s.views[t].dtype;
    if (first == DType::kUndefined) first = dtype;
    uniform = uniform && dtype == first;
    wide = wide || dtype == DType::kFloat64;
  }
  const int last = s.loop_dims - 1;
  const bool channels_together =
      p.channels > 1 && all_views(s, [](const DataView& view) { return view.channel_stride == 1; });
  const bool rows = all_views(s, [&](const DataView& view) { return view.strides[last] == 1; });
  s.elem = first;
  if (uniform && p.map != Map::kQuantize) {
    if (channels_together && (p.channels >= kShortestRow || dense_positions(s, p.channels))) {
      s.path = Path::kChannelsLast;
      return;
    }
    if (rows && (s.extents[last] >= kShortestRow || p.count < kShortestRow)) {
      s.path = Path::kRows;
      return;
    }
  }
  s.path = Path::kPacked;
  s.elem = wide ? DType::kFloat64 : DType::kFloat32;
}

// Units and tiles of a channel.
void cut_channel(Schedule& s, const Program& p) {
  const int last = s.loop_dims - 1;
  int64_t steps = 1;  // additions that a lane makes in a unit
  switch (s.path) {
    case Path::kRows: {
      const int64_t length = s.extents[last];
      s.unit_length = std::min(length, kLongestUnit);
      s.units_per_row = ceil_div(length, s.unit_length);
      s.units = p.count / length * s.units_per_row;
      steps = ceil_div(s.unit_length, kLanes);
      break;
    }
    case Path::kPacked:
      s.unit_length = kPackElements / std::min<int64_t>(p.channels, kPackChannels) / kLanes * kLanes;
      s.units = ceil_div(p.count, s.unit_length);
      steps = s.unit_length / kLanes;
      break;
    default:
      if (dense_positions(s, p.channels)) {
        while (s.repeat < kMaxRepeat && p.count / (2 * s.repeat) >= kShortestWalk &&
               2 * s.repeat * p.channels <= kColumnBlock &&
               (s.repeat * p.channels < 64 || s.repeat * p.channels % kLanes != 0))
          s.repeat *= 2;
        s.remainder = p.count % s.repeat;
        s.extents[0] /= s.repeat;
        for (DataView& view : s.views)
          view.strides[0] *= s.repeat;
      }
      s.unit_length = s.repeat;
      s.units = p.count / s.repeat;
      break;
  }
  s.units_per_tile = std::max<int64_t>(1, kChain / steps);
  s.tiles = std::max<int64_t>(1, ceil_div(s.units, s.units_per_tile));
}

// Is a program over channels-last data reduced and mapped block by block of kColumnBlock channels? A strip of so many
// fills pages well enough to be walked over all positions, and what the reduction read is still in cache for the map.
bool fuses_blocks(const Schedule& s, const Program& p, int64_t size) {
  if (p.reduce == Reduce::kNone || p.map == Map::kNone || s.repeat > 1) return false;
  int64_t inputs = 0;
  for (unsigned reads = uses_of(p).reads; reads != 0; reads >>= 1)
    inputs += reads & 1;
  return s.work_bytes >= kSequentialBytes && p.channels >= kColumnBlock * std::max(2, num_threads()) &&
         kColumnBlock * p.count * inputs * size <= kBlockBytes;
}

// Blocks of channels, tasks and splits.
void cut_work(Schedule& s, const Program& p) {
  int64_t moved_bytes = 0;  // per position of a channel
  for (int t = 0; t < kTensors; ++t) {
    if (!used(s, t)) continue;
    moved_bytes += dtype_size(s.views[t].dtype);
  }
  const int64_t size = dtype_size(s.elem);
  s.work_bytes = p.channels * p.count * moved_bytes;
  // Positions side by side are merged split by split: there the number of splits is part of the result, and must not
  // depend on the number of threads.
  const int64_t most =
      s.repeat > 1 ? kMaxSplits : std::clamp<int64_t>(kTasksPerThread * num_threads(), kFewTasks, kMaxTasks);
  const int64_t cost = s.work_bytes + p.channels * kChannelBytes;
  const int64_t wanted = std::clamp<int64_t>(cost / kTaskBytes, 1, most);

  int64_t step = 1;  // tasks take a multiple of it
  switch (s.path) {
    case Path::kRows:
      step = std::clamp<int64_t>(kPieceBytes / (s.unit_length * size), 1, kMaxBlock);
      s.block = step;
      break;
    case Path::kPacked:
      step = std::min<int64_t>(p.channels, kPackChannels);
      s.block = step;
      break;
    default:
      step = 128 / size;
      s.block = kColumnBlock;
      break;
  }
  s.channels_per_task = std::min(p.channels, round_up(ceil_div(p.channels, wanted), step));
  if (s.repeat > 1) s.channels_per_task = p.channels;
  const int64_t blocks = ceil_div(p.channels, s.channels_per_task);
  // Where channels alone make too few tasks, a large program is also cut inside its channels.
  bool split = 2 * blocks < std::min(wanted, kFewTasks);
  const bool one_pass = p.map == Map::kNone || p.reduce == Reduce::kNone;
  if (s.path == Path::kRows && one_pass && s.loop_dims > 1 && s.tiles >= wanted &&
      s.work_bytes >= kSequentialBytes) {
    // With one stage there is nothing to keep in cache: memory is read in order, all channels of a row of positions.
    s.block = std::min<int64_t>(p.channels, kMaxBlock);
    s.channels_per_task = p.channels;
    split = true;
  }
  if (s.path == Path::kChannelsLast && wanted > 1) {
    if (fuses_blocks(s, p, size)) {
      s.channels_per_task = kColumnBlock;
      return;
    }
    // Memory is read in order: walking a narrow block of channels over all positions is several times slower, even
    // where the block then stays in cache.
    split = s.tiles > 1;
    if (split) s.channels_per_task = p.channels;
  }
  if (!split || s.tiles == 1) return;
  const int64_t split_blocks = ceil_div(p.channels, s.channels_per_task);
  const int64_t splits = std::min(ceil_div(wanted, split_blocks), kMaxSplits);
  s.tiles_per_split = 1;
  while (ceil_div(s.tiles, s.tiles_per_split) > splits)
    s.tiles_per_split *= 2;
  s.splits = ceil_div(s.tiles, s.tiles_per_split);
}

int64_t elements(const TensorArg& tensor) {
  int64_t count = 1;
  for (int d = 0; d < tensor.rank; ++d)
    count *= tensor.extents[d];
  return count;
}

void add_stage(Schedule& s, Stage stage, int64_t tasks) {
  s.stage[s.stages] = stage;
  s.tasks[s.stages] = tasks;
  ++s.stages;
}

void plan_data(Schedule& s, const Program& p) {
  const Uses uses = uses_of(p);
  set_views(s, p, uses.all());
  choose_path(s, p);
  s.tiles_per_split = 1;
  if (p.count > 0 && p.channels > 0) {
    cut_channel(s, p);
    cut_work(s, p);
  } else {
    s.block = 1;
    s.channels_per_task = std::max<int64_t>(1, p.channels);
  }
  const int64_t size = dtype_size(s.elem);
  if (s.splits == 1) s.tiles_per_split = std::max<int64_t>(1, s.tiles);
  s.joined_rows = rows_follow(s) && s.unit_length * size >= kShortestJoinedBytes &&
                  s.unit_length * size < kLongestJoinedBytes;
  const int64_t run_length = s.joined_rows ? s.block * s.unit_length : s.unit_length;
  s.stream_out =
      p.map != Map::kNone && p.channels * p.count * size >= kStreamBytes &&
      (s.path == Path::kChannelsLast || (s.path == Path::kRows && run_length >= kShortestStreamed));

  const bool in_pieces = s.block * p.count * dtype_size(s.elem) >= kCachedBytes;
  s.fused_units = std::max<int64_t>(1, in_pieces ? ceil_div(s.units, kFusedPieces) : s.units);

  const int64_t blocks = p.channels == 0 ? 0 : ceil_div(p.channels, s.channels_per_task);
  const bool long_counter = p.finalize == Finalize::kElemtBackward && elements(p.counts) > kLongCounter;
  if (s.splits == 1 && !long_counter) return add_stage(s, Stage::kFused, blocks);

  s.finalize_channels = long_counter ? std::max<int64_t>(1, p.channels) : s.finalize_channels;
  if (p.reduce != Reduce::kNone) {
    add_stage(s, Stage::kReduce, blocks * s.splits);
    s.workspace_bytes = static_cast<uint64_t>(p.channels * s.splits * kPartBytes);
  }
  add_stage(s, Stage::kFinalize, ceil_div(p.channels, s.finalize_channels));
  if (p.map != Map::kNone) {
    add_stage(s, Stage::kMap, blocks * s.splits);
    s.coefficients_at = static_cast<int64_t>(s.workspace_bytes);
    s.workspace_bytes +=
        static_cast<uint64_t>(kCoefficientFields * (p.channels + kPlanePadding)) * sizeof(double);
  }
}

}  // namespace

std::string Schedule::describe() const {
  std::string text;
  switch (path) {
    case Path::kChannels:
      return "per channel";
    case Path::kRows:
      text = "rows";
      break;
    case Path::kChannelsLast:
      text = "channels last";
      break;
    case Path::kPacked:
      text = "packed";
      break;
  }
  if (splits > 1) return text + ", split by " + std::to_string(splits);
  return stages == 1 ? text + ", fused" : text;
}

std::shared_ptr<const Plan> make_plan(const Program& program) {
  auto schedule = std::make_shared<Schedule>();
  if (program.fill_count > 0) {
    add_stage(*schedule, Stage::kFill, program.fill_count);
  } else if (program.reduce == Reduce::kNone && program.map == Map::kNone) {
    const bool anything = program.finalize != Finalize::kNone;
    if (anything)
      add_stage(*schedule, Stage::kFinalize, ceil_div(program.channels, schedule->finalize_channels));
  } else {
    plan_data(*schedule, program);
  }
  return schedule;
}

}  // namespace bn::cpu
