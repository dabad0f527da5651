// Thread block clusters, as cooperative_groups gives them.
#pragma once

#include "cuda_runtime.h"

namespace bn_simt {

BN_SIMT_API void cluster_barrier(Site site);
BN_SIMT_API unsigned cluster_rank();
BN_SIMT_API unsigned cluster_size();
// The address in the shared memory of block `rank` that corresponds to `address` in this block's.
BN_SIMT_API void* cluster_map(void* address, unsigned rank);

}  // namespace bn_simt

namespace cooperative_groups {

class cluster_group {
 public:
  static void sync(bn_simt::Site site = {__builtin_FILE(), __builtin_LINE()}) {
    bn_simt::cluster_barrier(site);
  }
  static unsigned block_rank() { return bn_simt::cluster_rank(); }
  static unsigned num_blocks() { return bn_simt::cluster_size(); }
  template <class T>
  static T* map_shared_rank(T* address, unsigned rank) {
    return static_cast<T*>(bn_simt::cluster_map(address, rank));
  }
};

inline cluster_group this_cluster() {
  return {};
}

}  // namespace cooperative_groups
