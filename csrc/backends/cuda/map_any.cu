#include "backends/cuda/map.cuh"

namespace bn::cuda {

template void launch_map<AnyElement>(const Program&, const Geometry&, const double*, cudaStream_t);

}  // namespace bn::cuda
