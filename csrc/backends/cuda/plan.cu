#include "backends/cuda/plan.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "core/status.h"
#include "math/dy_dot_xmu.h"
#include "math/moments.h"
#include "math/sums.h"

namespace bn::cuda {
namespace {

// Blocks that fill the chip: 132 multiprocessors with 4 blocks each. A constant, so that the order of a sum, and
// with it the result's bits, is the same on smaller chips.
constexpr int64_t kTargetBlocks = 528;
// A split is not worth its part and its block below so many vectors a thread.
constexpr int64_t kVectorsPerThread = 8;
constexpr int64_t kMaxGrid = 2147483647;
constexpr int64_t kMaxNarrowVectors = int64_t{1} << 31;  // walk.h: what its dividers can do
constexpr uint64_t kWorkspaceAlignment = 64;
// What is read from memory at once.
constexpr int64_t kSector = 32;

// When one kernel does all stages (fused.cuh). It reads the data once and is one launch, but a channel's data has to fit
// in the shared memory of a block, and then there are no more blocks than groups of channels.
//
// Half the multiprocessors of an H100 with a block each, as an estimate of what it takes to keep its memory busy.
constexpr int64_t kFusedBlocks = 64;
// Channels of so many splits, and their kernel's few blocks, are better off with all blocks that splits give.
constexpr int kFusedSplits = 8;
// Shared memory that all chips have for a block, and that leaves room for a second block on large ones; and what an
// H100 has. They choose the shape of a block, so they must not depend on the chip. Whether it fuses may: the bits are
// those of separate kernels.
constexpr size_t kSharedOfAll = 96 << 10;
constexpr size_t kSharedOfLarge = 227 << 10;
// Elements of a counter that every block of a map may well add up for itself.
constexpr int64_t kFewCounts = 8;

int64_t divide_up(int64_t n, int64_t by) {
  return (n + by - 1) / by;
}

int64_t power_of_two_from(int64_t n) {
  int64_t power = 1;
  while (power < n)
    power *= 2;
  return power;
}

// The data tensors that a stage reads or writes.
struct Tensors {
  const DataArg* args[5];
  int count = 0;

  void add(const DataArg& arg) {
    if (present(arg)) args[count++] = &arg;
  }
  const DataArg* const* begin() const { return args; }
  const DataArg* const* end() const { return args + count; }
};

Tensors read_by_reduce(const Program& p) {
  Tensors tensors;
  tensors.add(p.x);
  if (p.reduce == Reduce::kDyDotXmu) {
    tensors.add(p.dy);
    if (p.relu) tensors.add(p.extra);
  }
  return tensors;
}

Tensors used_by_map(const Program& p) {
  Tensors tensors;
  for (const DataArg* arg : {&p.x, &p.dy, &p.extra, &p.out, &p.grad_residual})
    tensors.add(*arg);
  return tensors;
}

bool inner_unit(const Program& p, const DataArg& arg) {
  return p.loop_dims > 0 && arg.strides[p.loop_dims - 1] == 1;
}

// Are channels the direction in which these tensors are contiguous? Undecided ones follow the first tensor.
bool columns_are_better(const Program& p, const Tensors& tensors) {
  if (p.channels == 1) return false;
  if (p.loop_dims == 0) return true;
  int rows = 0;
  int columns = 0;
  for (const DataArg* arg : tensors) {
    const int64_t inner = std::abs(arg->strides[p.loop_dims - 1]);
    const int64_t channel = std::abs(arg->channel_stride);
    if (inner == 0 && channel == 0) continue;
    if (channel != 0 && (inner == 0 || channel < inner)) {
      ++columns;
    } else {
      ++rows;
    }
  }
  return columns > rows;
}

bool all_multiples(const Program& p, const Tensors& tensors, int width, bool columns) {
  for (const DataArg* arg : tensors) {
    if (!columns && p.channels > 1 && arg->channel_stride % width != 0) return false;
    const int dims = columns ? p.loop_dims : p.loop_dims - 1;
    for (int d = 0; d < dims; ++d) {
      if (arg->strides[d] % width != 0) return false;
    }
  }
  return true;
}

// Elements of a vector: as many as fill 16 bytes if every whole vector can then lie at a multiple of 16 bytes.
int vector_width(const Program& p, const Tensors& tensors, bool typed, bool columns) {
  if (!typed || tensors.count == 0) return 1;
  const int width = static_cast<int>(16 / dtype_size(tensors.args[0]->dtype));
  for (const DataArg* arg : tensors) {
    if (columns ? arg->channel_stride != 1 : !inner_unit(p, *arg)) return 1;
  }
  if (!all_multiples(p, tensors, width, columns)) return 1;
  const int64_t together = columns ? p.channels : p.extents[p.loop_dims - 1];
  return together >= width ? width : 1;
}

// `most_lanes`: of the columns geometry.
Geometry make_geometry(const Program& p, const Tensors& tensors, bool typed, int64_t most_lanes = kWarp) {
  Geometry geometry;
  geometry.columns = columns_are_better(p, tensors);
  geometry.width = vector_width(p, tensors, typed, geometry.columns);

  Walk& walk = geometry.walk;
  const int64_t inner = p.loop_dims > 0 ? p.extents[p.loop_dims - 1] : 1;
  walk.run_elements = inner;
  walk.run = geometry.columns ? inner : divide_up(inner, geometry.width);
  walk.vectors = inner > 0 ? p.count / inner * walk.run : 0;
  walk.outer_dims = std::max(p.loop_dims - 1, 0);
  walk.wide = walk.vectors >= kMaxNarrowVectors;
  if (!walk.wide && walk.vectors > 0) {
    walk.run_divider = Divider::by(static_cast<uint32_t>(walk.run));
    for (int d = 0; d < walk.outer_dims; ++d)
      walk.outer_dividers[d] = Divider::by(static_cast<uint32_t>(p.extents[d]));
  }

  int64_t groups;
  int64_t threads;  // that share the vectors of a split
  if (geometry.columns) {
    walk.channel_vectors = divide_up(p.channels, geometry.width);
    walk.lanes = static_cast<int32_t>(std::min(power_of_two_from(walk.channel_vectors), most_lanes));
    groups = divide_up(walk.channel_vectors, walk.lanes);
    threads = kBlock / walk.lanes;
  } else {
    // A block for a channel of two vectors a thread and more; short channels share one.
    if (walk.vectors >= 2 * kBlock) {
      walk.lanes = kBlock;
    } else {
      walk.lanes = static_cast<int32_t>(std::clamp<int64_t>(power_of_two_from(walk.vectors), 4, kWarp));
    }
    groups = divide_up(p.channels, kBlock / walk.lanes);
    threads = walk.lanes;
  }
  const int64_t worthwhile = std::max<int64_t>(walk.vectors / (threads * kVectorsPerThread), 1);
  const int64_t wanted = std::max<int64_t>(divide_up(kTargetBlocks, std::max<int64_t>(groups, 1)), 1);
  int64_t splits = std::min(wanted, worthwhile);
  // Splits begin at a multiple of what all threads read together, so that accesses stay aligned.
  walk.chunk = std::max<int64_t>(divide_up(divide_up(walk.vectors, splits), threads) * threads, 1);
  splits = std::max<int64_t>(divide_up(walk.vectors, walk.chunk), 1);
  walk.splits = static_cast<int32_t>(splits);
  if (groups > kMaxGrid / splits) {
    throw Error(BNAPI_ERR_PARAM_INVALID,
                "cuda: " + std::to_string(p.channels) + " channels are too many for a grid");
  }
  geometry.blocks = static_cast<unsigned>(groups * splits);
  return geometry;
}

uint64_t part_size(Reduce reduce) {
  switch (reduce) {
    case Reduce::kMoments:
      return sizeof(Moments);
    case Reduce::kSums:
      return sizeof(RawSums<double>);
    case Reduce::kDyDotXmu:
      return sizeof(DyDotXmu<double>);
    case Reduce::kNone:
      return 0;
  }
  return 0;
}

uint64_t take(uint64_t* workspace, uint64_t size_bytes) {
  const uint64_t offset = *workspace;
  *workspace += (size_bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
  return offset;
}

bool is_typed(const Tensors& tensors) {
  for (const DataArg* arg : tensors) {
    if (arg->dtype != tensors.args[0]->dtype) return false;
  }
  if (tensors.count == 0) return false;
  switch (tensors.args[0]->dtype) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat64:
      return true;
    default:
      return false;
  }
}

// Calls launch(type) with the element type to compile for.
template <class Launch>
void with_type(DType dtype, bool typed, Launch launch) {
  if (!typed) {
    launch(AnyElement{});
    return;
  }
  switch (dtype) {
    case DType::kFloat32:
      launch(float{});
      break;
    case DType::kFloat16:
      launch(Half{});
      break;
    case DType::kBFloat16:
      launch(BFloat16{});
      break;
    case DType::kFloat64:
      launch(double{});
      break;
    default:
      break;
  }
}

const char* path_of(const Program& p, const Geometry& geometry) {
  if (p.reduce == Reduce::kNone && p.map == Map::kNone) return p.fill_count > 0 ? "fill" : "channels";
  if (geometry.width > 1) return geometry.columns ? "channels_last" : "rows";
  return geometry.columns ? "strided columns" : "strided rows";
}

int64_t groups_of(const Geometry& geometry) {
  return geometry.blocks / geometry.walk.splits;
}

size_t shared_for(const Program& p, const Geometry& geometry, DType dtype, bool typed) {
  size_t bytes = 0;
  with_type(dtype, typed, [&](auto element) { bytes = shared_for_fused<decltype(element)>(p, geometry); });
  return bytes;
}

// Is one kernel better than three, if it fits? Few channels are worth it only if they are so short that launches are
// most of the time; a channel that is one split is.
bool worth_fusing(const Geometry& geometry) {
  const int splits = geometry.walk.splits;
  return splits == 1 || (splits < kFusedSplits && groups_of(geometry) >= kFusedBlocks);
}

// The geometry of a fused kernel, where that of the reduction is given; its blocks are 0 if there is none. With columns,
// a block takes fewer of them, as long as whole sectors are read, until its data fits and there are blocks for the
// multiprocessors.
Geometry fused_geometry(const Program& p, const Tensors& reduced, DType dtype, bool typed,
                        const Geometry& geometry) {
  Geometry best;
  best.blocks = 0;
  const int64_t vector_bytes = geometry.width * dtype_size(dtype);
  for (const size_t limit : {kSharedOfAll, kSharedOfLarge}) {
    for (int64_t lanes = geometry.walk.lanes;; lanes /= 2) {
      const Geometry narrow = geometry.columns ? make_geometry(p, reduced, typed, lanes) : geometry;
      const int64_t ranks = kBlock / narrow.walk.lanes;
      if (best.blocks > 0 && narrow.walk.vectors < 4 * ranks)
        break;  // threads would have next to nothing to do
      const size_t shared = shared_for(p, narrow, dtype, typed);
      if (shared > 0 && shared <= limit && worth_fusing(narrow)) best = narrow;
      if (best.blocks > 0 && groups_of(best) >= kFusedBlocks) break;
      if (!geometry.columns || lanes / 2 * vector_bytes < kSector) break;
    }
    if (best.blocks > 0) break;
  }
  return best;
}

bool same_vectors(const Geometry& a, const Geometry& b) {
  return a.columns == b.columns && a.width == b.width;
}

bool few_counts(const Program& p) {
  int64_t elements = 1;
  for (int d = 0; d < p.counts.rank; ++d)
    elements *= p.counts.extents[d];
  return p.finalize != Finalize::kElemtBackward || elements <= kFewCounts;
}

// For tests and measurements: every stage is a kernel of its own.
bool separate_stages() {
  static const bool on = [] {
    const char* value = getenv("BNAPI_CUDA_FUSE");
    return value != nullptr && *value == '0';
  }();
  return on;
}

}  // namespace

std::string Plan::describe() const {
  std::string text = path;
  const auto add = [&text](bool there, const char* stages) {
    if (there) text += std::string(", ") + stages;
  };
  add(fused, "reduce + finalize + map");
  add(reduces, reduce_finalizes ? "reduce + finalize" : "reduce");
  add(finalizes, "finalize");
  add(maps, reduce_finalizes || finalizes ? "map" : "finalize + map");
  return text;
}

std::shared_ptr<const Plan> make_plan(const Program& p, const DeviceLimits& limits) {
  auto plan = std::make_shared<Plan>();
  const Tensors reduced = read_by_reduce(p);
  const Tensors mapped = used_by_map(p);
  const bool separate = separate_stages();
  plan->typed = is_typed(mapped);
  plan->dtype = mapped.count > 0 ? mapped.args[0]->dtype : DType::kUndefined;
  plan->shared_limit = limits.shared_bytes;
  plan->reduces = p.reduce != Reduce::kNone && p.channels > 0;
  plan->maps = p.map != Map::kNone && p.channels > 0 && p.count > 0;
  if (plan->reduces) plan->reduce = make_geometry(p, reduced, plan->typed);
  if (plan->maps) plan->map = make_geometry(p, mapped, plan->typed);
  plan->path = path_of(p, p.map != Map::kNone ? plan->map : plan->reduce);

  if (plan->reduces && plan->maps && same_vectors(plan->reduce, plan->map)) {
    const Geometry fused = fused_geometry(p, reduced, plan->dtype, plan->typed, plan->reduce);
    if (fused.blocks > 0) {
      // Also if it is not fused here: the order of sums is the same on every chip.
      plan->reduce = fused;
      const size_t shared = shared_for(p, fused, plan->dtype, plan->typed);
      plan->fused = !separate && shared <= static_cast<size_t>(limits.shared_bytes);
    }
  }
  if (plan->fused) {
    plan->reduces = plan->maps = false;
    return plan;
  }
  const int splits = plan->reduce.walk.splits;
  plan->reduce_finalizes = plan->reduces && splits == 1 && !separate;
  plan->finalizes = p.finalize != Finalize::kNone && p.channels > 0 && !plan->reduce_finalizes &&
                    (!plan->maps || plan->reduces || separate || !few_counts(p));
  plan->finalize_lanes = splits < 8 ? 1 : (splits < 2 * kWarp ? kWarp : kBlock);
  if (plan->reduces && plan->finalizes) {
    plan->parts_offset =
        take(&plan->workspace_bytes,
             part_size(p.reduce) * static_cast<uint64_t>(p.channels) * static_cast<uint64_t>(splits));
  }
  if (plan->maps && (plan->finalizes || plan->reduce_finalizes)) {
    plan->coefficients_offset =
        take(&plan->workspace_bytes, sizeof(ChannelCoefficients) * static_cast<uint64_t>(p.channels));
  }
  return plan;
}

void run_plan(const Plan& plan, const Program& p, void* workspace, cudaStream_t stream) {
  if (p.fill_count > 0) {
    launch_fills(p, stream);
    return;
  }
  const auto launch_typed = [&plan](auto launch) { with_type(plan.dtype, plan.typed, launch); };
  if (plan.fused) {
    launch_typed(
        [&](auto element) { launch_fused<decltype(element)>(p, plan.reduce, plan.shared_limit, stream); });
    return;
  }
  void* parts = static_cast<char*>(workspace) + plan.parts_offset;
  double* coefficients = nullptr;
  if (plan.maps && (plan.finalizes || plan.reduce_finalizes)) {
    coefficients = reinterpret_cast<double*>(static_cast<char*>(workspace) + plan.coefficients_offset);
  }
  if (plan.reduces) {
    launch_typed([&](auto element) {
      launch_reduce<decltype(element)>(p, plan.reduce, plan.reduce_finalizes ? nullptr : parts, coefficients,
                                       stream);
    });
  }
  if (plan.finalizes) {
    launch_finalize(p, plan.reduce.walk.splits, plan.finalize_lanes, parts, coefficients, stream);
  }
  if (plan.maps) {
    launch_typed([&](auto element) { launch_map<decltype(element)>(p, plan.map, coefficients, stream); });
  }
}

}  // namespace bn::cuda
