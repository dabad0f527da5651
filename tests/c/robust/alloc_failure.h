// The cases of the test of failing allocations: what to call, and what must hold afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "check.h"
#include "reduce_backward.h"

namespace alloc_failure {

inline constexpr bnapiStatus kNull = -1;  // stands for the null handle of a creator

// What all cases share. Made while allocations succeed.
struct Fixture {
  ReduceBackward small{2, 3, 8};
  ReduceBackward large{4, 24, 2048};
  std::vector<unsigned char> from = std::vector<unsigned char>(size_t{1} << 20, 1);
  std::vector<unsigned char> to = std::vector<unsigned char>(size_t{1} << 20, 0);
  std::vector<unsigned char> load_from = std::vector<unsigned char>(size_t{4} << 20, 1);
  std::vector<unsigned char> load_to = std::vector<unsigned char>(size_t{4} << 20, 0);
  Workspace workspace{size_t{1} << 20};
  // Results of the call under test.
  bnapiOpExecutor* executor = nullptr;
  uint64_t size = 0;
  bnapiStream stream = nullptr;
  bnapiEvent event = nullptr;
  bnapiTensor* tensor = nullptr;
  bnapiScalar* scalar = nullptr;
  bnapiBoolArray* array = nullptr;
  void* memory = nullptr;
  int64_t* dims = nullptr;
};

struct Case {
  const char* name;
  bnapiStatus out_of_memory;
  std::function<void(Fixture&)> before;
  std::function<bnapiStatus(Fixture&)> call;
  std::function<void(Fixture&)> after_success;
  // After failure, when there is something to release that `before` made.
  std::function<void(Fixture&)> after_failure;
};

inline void nothing(Fixture&) {}

// Each in the file of its name.
std::vector<Case> runtime_cases();
std::vector<Case> operator_cases();
std::vector<Case> ascend_cases();

}  // namespace alloc_failure
