#include "backends/cuda/map.cuh"

namespace bn::cuda {

template void launch_map<BFloat16>(const Program&, const Geometry&, const double*, cudaStream_t);

}  // namespace bn::cuda
