// The finalize stage: merges a channel's parts, then applies the operator's formula (math/finalize.h).
#include "backends/cuda/kernels.h"
#include "backends/cuda/reductions.h"
#include "math/finalize.h"

namespace bn::cuda {
namespace {

struct FinalizeArgs {
  const void* parts;
  double* coefficients;
  int32_t splits;
  int32_t lanes;
};

// The parts are merged by lane, then the lanes: the order depends on their number alone.
template <class Part>
__device__ Part merge_parts(const Program& p, const FinalizeArgs& args, int64_t channel, int lane) {
  Part part{};
  if (channel < p.channels) {
#pragma unroll 4
    for (int split = lane; split < args.splits; split += args.lanes) {
      const double* planes = planes_of_split<Part>(args.parts, p.channels, split);
      part = merge(part, load_planes<Part>(planes, p.channels, channel));
    }
  }
  return fold_group(part, args.lanes, reinterpret_cast<Part*>(dynamic_shared()));
}

__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    finalize_channels(const __grid_constant__ Program p, const __grid_constant__ FinalizeArgs args) {
  const int lane = threadIdx.x & (args.lanes - 1);
  const int64_t channel = int64_t{blockIdx.x} * (kBlock / args.lanes) + threadIdx.x / args.lanes;
  Totals totals;
  switch (p.reduce) {
    case Reduce::kMoments:
      totals = totals_of(merge_parts<Moments>(p, args, channel, lane));
      break;
    case Reduce::kSums:
      totals = totals_of(merge_parts<RawSums<double>>(p, args, channel, lane));
      break;
    case Reduce::kDyDotXmu:
      totals = totals_of(merge_parts<DyDotXmu<double>>(p, args, channel, lane));
      break;
    case Reduce::kNone:
      break;
  }
  double count = 0;
  if (p.finalize == Finalize::kElemtBackward) {
    double* shared = reinterpret_cast<double*>(dynamic_shared());
    if (threadIdx.x == 0) *shared = counter_total(p.counts);
    __syncthreads();
    count = *shared;
  }
  if (channel >= p.channels || lane != 0) return;
  const ChannelCoefficients exact = finalize(p, channel, totals, count);
  if (args.coefficients != nullptr) store_planes(args.coefficients, p.channels, channel, exact);
}

}  // namespace

void launch_finalize(const Program& p, int splits, int lanes, const void* parts, double* coefficients,
                     cudaStream_t stream) {
  const int64_t per_block = kBlock / lanes;
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>((p.channels + per_block - 1) / per_block);
  shape.shared_bytes = sizeof(Moments) * (kBlock / kWarp);
  launch("finalize", finalize_channels, shape, stream, p, FinalizeArgs{parts, coefficients, splits, lanes});
}

}  // namespace bn::cuda
