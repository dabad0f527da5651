/* What the Python module adds to the public API: a planned call in one crossing from Python to C. */
#include "bn_api.h"

typedef bnapiStatus (*bnpyPhaseTwo)(void* workspace, uint64_t workspaceSize, bnapiOpExecutor* executor,
                                    bnapiStream stream);

enum { BNPY_MAX_PLACES = 16 };

/* Aims the executor at `count` addresses, runs it, and waits for the stream if asked to.
 * With `indirect`, places[i] is not an address but where one is stored; 0 stays 0. */
static bnapiStatus bnpyRun(bnpyPhaseTwo run, bnapiOpExecutor* executor, const uintptr_t* places, size_t count,
                           bool indirect, void* workspace, uint64_t workspaceSize, bnapiStream stream,
                           bool wait) {
  void* addresses[BNPY_MAX_PLACES];
  size_t i;
  bnapiStatus status;
  if (count > BNPY_MAX_PLACES) return BNAPI_ERR_PARAM_INVALID;
  for (i = 0; i < count; ++i) {
    addresses[i] = indirect && places[i] != 0 ? *(void**)places[i] : (void*)places[i];
  }
  status = bnapiSetTensorAddrs(executor, addresses, count);
  if (status == BNAPI_SUCCESS) status = run(workspace, workspaceSize, executor, stream);
  if (status == BNAPI_SUCCESS && wait) status = bnapiSynchronizeStream(stream);
  return status;
}
