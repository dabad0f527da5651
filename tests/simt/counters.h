// Counts what warps move: the 32-byte sectors that each warp-wide access touches, against the bytes it asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vector_types.h"

namespace bn_simt {

struct KernelCounts {
  std::string name;
  dim3 grid, block;
  size_t shared_bytes = 0;
  uint64_t launches = 0;
  uint64_t blocks = 0;      // of all launches
  uint64_t blocks_run = 0;  // less than `blocks` if they were sampled
  uint64_t block_barriers = 0;
  uint64_t warp_operations = 0;
  struct Traffic {
    uint64_t accesses = 0;      // warp-wide
    uint64_t useful_bytes = 0;  // distinct bytes asked for by an access
    uint64_t moved_bytes = 0;   // its sectors
  } load, store;
};

// The accesses of one warp since its block's last barrier. The n-th time that each lane comes to one place in the
// code is one access of the warp.
class WarpLog {
 public:
  void note(uintptr_t site, int lane, uintptr_t address, unsigned size, bool is_store);
  // Adds everything to the counts, and forgets it.
  void flush(KernelCounts* counts);

 private:
  struct Access {
    uintptr_t addresses[32];
    int lanes = 0;
  };
  struct Place {
    uintptr_t site;
    unsigned size;
    bool is_store;
    uint32_t times[32] = {};  // by lane
    std::vector<Access> accesses;
  };
  std::vector<Place> places_;
  size_t last_ = 0;
};

// The entry for launches of this kernel with this shape. With the engine locked.
KernelCounts* counts_of(const char* name, dim3 grid, dim3 block, size_t shared_bytes);
std::string report_json();
void reset_report();

}  // namespace bn_simt
