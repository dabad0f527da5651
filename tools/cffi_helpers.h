/* What the Python module adds to the public API: a planned call in one crossing from Python to C. */
#include "bn_api.h"

typedef bnapiStatus (*bnpyPhaseTwo)(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                    bnapiStream stream);

enum { BNPY_MAX_PLACES = 16 };

/* Aims the executor at `count` addresses, runs it, and waits for the stream if asked to. places[i] equal to `absent`
 * stands for no tensor. If `offset` is not 0, a place is not an address but an object that holds one, at `offset`. */
static bnapiStatus bnpyRun(bnpyPhaseTwo run, bnapiOpExecutor* executor, const uintptr_t* places, size_t count,
                           uintptr_t absent, size_t offset, void* workspace, uint64_t workspaceSize,
                           bnapiStream stream, bool wait) {
  void* addresses[BNPY_MAX_PLACES];
  size_t i;
  bnapiStatus status;
  if (count > BNPY_MAX_PLACES) return BNAPI_ERR_PARAM_INVALID;
  for (i = 0; i < count; ++i) {
    if (places[i] == absent) {
      addresses[i] = NULL;
    } else {
      addresses[i] = offset == 0 ? (void*)places[i] : *(void**)(places[i] + offset);
    }
  }
  status = bnapiSetTensorAddrs(executor, addresses, count);
  if (status == BNAPI_SUCCESS) status = run(workspace, workspaceSize, executor, stream);
  if (status == BNAPI_SUCCESS && wait) status = bnapiSynchronizeStream(stream);
  return status;
}
