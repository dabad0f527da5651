// How the CPU runs one program: stages of independent tasks, for the pool to hand out.
//
// Everything here is chosen from shapes, strides and types alone, never from the number of threads or the
// instruction set, so that neither changes a bit of any result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backends/backend.h"

namespace bn::cpu {

inline constexpr int kMaxStages = 4;

class Plan : public BackendPlan {
 public:
  int stages = 0;                  // run one after the other
  int64_t tasks[kMaxStages] = {};  // tasks of a stage may run in any order, in parallel
  int64_t work_bytes = 0;          // memory traffic, to judge whether waking other threads pays
};

// plan.cpp
std::shared_ptr<const Plan> make_plan(const Program& program);

// dispatch.cpp: runs one task on the instruction set in use. Leaves the caller's floating-point environment as it
// was, and computes with subnormals on and rounding to nearest whatever that was. Never throws.
void run_task(const Program& bound, const Plan& plan, void* workspace, int stage, int64_t task) noexcept;

// dispatch.cpp: "avx512", "avx2" or "baseline": the best the CPU has, or what BNAPI_ISA asks for.
const char* isa_in_use();
// dispatch.cpp: those built in, best first, separated by spaces.
const char* isas_built();

}  // namespace bn::cpu
