// Runs the thread blocks of one kernel launch: threads as fibers, blocks (or clusters) one after another.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "bn_simt.h"

namespace bn_simt {

struct Launch {
  const char* name = "";
  dim3 grid, block, cluster;
  size_t shared_bytes = 0;
  int device = 0;
  std::function<void()> body;
};

// With the engine locked. Success, or why the kernel was stopped, with the story in *message.
cudaError_t run_launch(const Launch& launch, std::string* message);

bool set_schedule(const char* schedule);
void set_sample(unsigned blocks, const char* except);
void set_counting(bool on);

}  // namespace bn_simt
