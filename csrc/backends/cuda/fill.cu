// Outputs that get one value everywhere.
#include "backends/cuda/kernels.h"

namespace bn::cuda {
namespace {

__global__ void __launch_bounds__(kBlock, kBlocksAtLeast)
    fill(const __grid_constant__ Fill fill, int64_t elements) {
  const TensorArg& tensor = fill.tensor;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < elements;
       i += int64_t{gridDim.x} * kBlock) {
    int64_t rest = i;
    int64_t offset = 0;
    for (int d = tensor.rank - 1; d >= 0; --d) {
      const int64_t outer = rest / tensor.extents[d];
      offset += (rest - outer * tensor.extents[d]) * tensor.strides[d];
      rest = outer;
    }
    store_from_double(static_cast<char*>(tensor.data) + offset * dtype_size(tensor.dtype), tensor.dtype,
                      fill.value);
  }
}

}  // namespace

void launch_fills(const Program& p, cudaStream_t stream) {
  constexpr int64_t kMostBlocks = 1056;
  for (int i = 0; i < p.fill_count; ++i) {
    int64_t elements = 1;
    for (int d = 0; d < p.fills[i].tensor.rank; ++d)
      elements *= p.fills[i].tensor.extents[d];
    if (elements == 0) continue;
    const int64_t blocks = (elements + kBlock - 1) / kBlock;
    LaunchShape shape;
    shape.blocks = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
    launch("fill", fill, shape, stream, p.fills[i], elements);
  }
}

}  // namespace bn::cuda
