// How the GPU runs one program: the geometry of each stage and the layout of the workspace.
#pragma once

#include "backends/cuda/kernels.h"
// kernels.h comes first: see device.h.
#include <memory>
#include <string>

#include "backends/backend.h"

namespace bn::cuda {

// What plans depend on. Nothing here but shared memory differs between the chips of one architecture, and no
// result's bits depend on the number of multiprocessors.
struct DeviceLimits {
  int shared_bytes = 48 << 10;  // that a block can ask for
  bool clusters = false;
};

class Plan : public BackendPlan {
 public:
  std::string describe() const override { return path; }

  const char* path = "";
  Geometry reduce, map;
  bool typed = false;  // all data tensors have the type of the first: no switch per element
  DType dtype = DType::kUndefined;
  int finalize_lanes = 1;
  uint64_t parts_offset = 0;     // of the reduction's parts in the workspace
  uint64_t channels_offset = 0;  // of the map's coefficients
};

std::shared_ptr<const Plan> make_plan(const Program& program, const DeviceLimits& limits);

// Enqueues the bound program.
void run_plan(const Plan& plan, const Program& bound, void* workspace, cudaStream_t stream);

}  // namespace bn::cuda
