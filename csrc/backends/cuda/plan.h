// How the GPU runs one program: the geometry of each stage and the layout of the workspace.
#pragma once

#include "backends/cuda/kernels.h"
// kernels.h comes first: see device.h.
#include <memory>
#include <string>

#include "backends/backend.h"

namespace bn::cuda {

// What plans depend on: which kernels there are, but no result's bits.
struct DeviceLimits {
  int shared_bytes = 48 << 10;  // that a block can ask for
};

class Plan : public BackendPlan {
 public:
  // For example "rows, reduce + finalize + map": kernels are separated by commas.
  std::string describe() const override;

  const char* path = "";
  Geometry reduce, map;
  bool typed = false;  // all data tensors have the type of the first: no switch per element
  DType dtype = DType::kUndefined;
  // Which kernels there are.
  bool fused = false;  // one, with the geometry of `reduce`
  bool reduces = false;
  bool reduce_finalizes = false;  // the reduce kernel does
  bool finalizes = false;         // a kernel of its own does
  bool maps = false;              // it finalizes, too, if no other kernel does
  int finalize_lanes = 1;
  int shared_limit = 0;
  // In the workspace, if there: parts from reduce to finalize, coefficients from finalize to map.
  uint64_t parts_offset = 0;
  uint64_t coefficients_offset = 0;
};

std::shared_ptr<const Plan> make_plan(const Program& program, const DeviceLimits& limits);

// Enqueues the bound program.
void run_plan(const Plan& plan, const Program& bound, void* workspace, cudaStream_t stream);

}  // namespace bn::cuda
