#ifndef BN_API_BATCH_NORM_ACT_BACKWARD_H_
#define BN_API_BATCH_NORM_ACT_BACKWARD_H_

#include "bn_api/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The backward pass of bnapiBatchNormAct. (No aclnn twin.)
 * Per element, then as bnapiBatchNormBackward with g in the place of dy:
 *     g = dy where the activation is identity; for relu, dy where output > 0, else 0
 *     gradResidual = g
 *
 * parameter     dir  shape        dtype               meaning; what NULL means
 * gradOut       in   [N, C, ...]  f16 bf16 f32 f64    dy; rank 2 to 8, any strides
 * input         in   [N, C, ...]  that of gradOut     x; shape and label of gradOut
 * output        in   [N, C, ...]  that of gradOut     what the forward pass wrote; needed for relu, else may
 *                                                     be NULL
 * weight        in   [C]          gradOut's f32 f64   NULL: 1
 * runningMean   in   [C]          gradOut's f32 f64   used in inference only, checked in both modes; NULL: 0
 * runningVar    in   [C]          runningMean's       used in inference only; NULL: 1
 * saveMean      in   [C]          gradOut's f32 f64   used in training only, length 0 allowed in inference;
 *                                                     NULL: 0
 * saveInvstd    in   [C]          saveMean's          an inverse standard deviation, eps included; NULL: 1
 * training      in   bool         -                   which statistics the forward pass used
 * eps           in   double       -                   used in inference only
 * activation    in   enum         -                   BNAPI_ACTIVATION_IDENTITY or BNAPI_ACTIVATION_RELU
 * outputMask    in   bool[4]      -                   which of the four outputs are asked for, in their order
 * gradInput     out  [N, C, ...]  that of gradOut     dx; shape and label of gradOut; may be the view of
 *                                                     gradOut or input
 * gradWeight    out  [C]          weight's f32 f64    any float type if weight is NULL
 * gradBias      out  [C]          that of gradWeight  any float type if weight is NULL and gradWeight not
 *                                                     asked for
 * gradResidual  out  [N, C, ...]  that of gradOut     g; shape and label of gradOut; may be the view of
 *                                                     gradOut
 * workspaceSize  out  bytes that phase two needs, may be 0
 * executor       out  the caller's until phase two consumes it or bnapiDestroyOpExecutor
 *
 * Masks, labels, empty tensors, accuracy
 *              as bnapiBatchNormBackwardGetWorkspaceSize.
 * @return BNAPI_SUCCESS; BNAPI_ERR_PARAM_NULLPTR for a null workspaceSize, executor, gradOut, input,
 *         outputMask or requested output, for relu also output, or a mask whose length is not 4;
 *         BNAPI_ERR_PARAM_INVALID for an unknown activation, or a dtype, label, rank or shape outside the
 *         table.
 */
BNAPI_EXPORT bnapiStatus bnapiBatchNormActBackwardGetWorkspaceSize(
    const bnapiTensor* gradOut, const bnapiTensor* input, const bnapiTensor* output,
    const bnapiTensor* weight, const bnapiTensor* runningMean, const bnapiTensor* runningVar,
    const bnapiTensor* saveMean, const bnapiTensor* saveInvstd, bool training, double eps,
    bnapiActivation activation, const bnapiBoolArray* outputMask, bnapiTensor* gradInput,
    bnapiTensor* gradWeight, bnapiTensor* gradBias, bnapiTensor* gradResidual, uint64_t* workspaceSize,
    bnapiOpExecutor** executor);

/** Phase two: enqueues the planned work. See bnapiBatchNormActBackwardGetWorkspaceSize. */
BNAPI_EXPORT bnapiStatus bnapiBatchNormActBackward(void* workspace, uint64_t workspaceSize,
                                                   bnapiOpExecutor* executor, bnapiStream stream);

#ifdef __cplusplus
}
#endif
#endif /* BN_API_BATCH_NORM_ACT_BACKWARD_H_ */
