#include "backends/cuda/reduce.cuh"

namespace bn::cuda {

template void launch_reduce<BFloat16>(const Program&, const Geometry&, void*, double*, cudaStream_t);

}  // namespace bn::cuda
