// An executor: a planned call, from phase one to phase two.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "backends/backend.h"
#include "core/call.h"
#include "core/program.h"

namespace bn {

struct Executor {
  Op op{};
  bool ascend = false;
  int32_t device = 0;
  Program program;
  std::shared_ptr<const BackendPlan> plan;

  // The tensor parameters in signature order, inputs first: the handle each was planned with (0 for an absent
  // optional), and the address it has now.
  int inputs = 0;
  int slots = 0;
  std::array<uint64_t, kMaxSlots> handles{};

  std::mutex mutex;  // guards what may change between phases
  std::array<void*, kMaxSlots> addresses{};
  bool repeatable = false;

  std::string description;  // for BNAPI_VERBOSE, else empty
};

// Fills in the program's addresses from the slots. Throws BNAPI_ERR_PARAM_NULLPTR for a tensor with elements
// that has no address, BNAPI_ERR_PARAM_INVALID for one not aligned to its elements.
void bind(Program& program, const std::array<void*, kMaxSlots>& addresses, const Executor& executor);

}  // namespace bn
