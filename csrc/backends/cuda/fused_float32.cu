#include "backends/cuda/fused.cuh"

namespace bn::cuda {

template size_t shared_for_fused<float>(const Program&, const Geometry&);
template void launch_fused<float>(const Program&, const Geometry&, int, cudaStream_t);

}  // namespace bn::cuda
