/* bn_api: batch-normalization operators with a two-phase C interface, on CPUs and NVIDIA GPUs.
 *
 *   bnapi<Op>GetWorkspaceSize(...)  checks the arguments, plans, and gives a workspace size and an executor
 *   bnapi<Op>(...)                  enqueues the planned work on a stream and returns
 */
#ifndef BN_API_H_
#define BN_API_H_

#include "bn_api/batch_norm.h"
#include "bn_api/batch_norm_act.h"
#include "bn_api/batch_norm_act_backward.h"
#include "bn_api/batch_norm_backward.h"
#include "bn_api/batch_norm_elemt.h"
#include "bn_api/batch_norm_elemt_backward.h"
#include "bn_api/batch_norm_gather_stats_with_counts.h"
#include "bn_api/batch_norm_reduce.h"
#include "bn_api/batch_norm_reduce_backward.h"
#include "bn_api/batch_norm_stats.h"
#include "bn_api/executor.h"
#include "bn_api/fast_batch_norm_backward.h"
#include "bn_api/quantized_batch_norm.h"
#include "bn_api/runtime.h"
#include "bn_api/sync_batch_norm_gather_stats.h"
#include "bn_api/tensor.h"
#include "bn_api/types.h"

#endif /* BN_API_H_ */
