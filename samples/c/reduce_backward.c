/* Batch norm's backward sums, from C99: what every host program does, step by step.
 *
 * Three samples of two channels. Expected, by hand, for channel 0 (mean 5, invstd 0.25):
 *     sumDy    = 1 + 0.5 - 2                        = -0.5
 *     sumDyXmu = 1*(2-5) + 0.5*(4-5) - 2*(9-5)      = -11.5
 *     gradWeight = sumDyXmu * invstd                = -2.875
 */
#include <stdio.h>
#include <stdlib.h>

#include "bn_api.h"

enum { kSamples = 3, kChannels = 2, kValues = kSamples * kChannels };

/* A status other than success ends the program with the library's own sentence about it. */
static void check(bnapiStatus status) {
  if (status == BNAPI_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", bnapiStatusName(status), bnapiGetRecentErrMsg());
  exit(1);
}

/* Memory on the current device (the CPU, or the first GPU) with a copy of `host` in it. */
static void* to_device(const float* host, size_t count) {
  void* memory = NULL;
  check(bnapiMalloc(&memory, count * sizeof(float)));
  check(bnapiMemcpy(memory, count * sizeof(float), host, count * sizeof(float), BNAPI_MEMCPY_HOST_TO_DEVICE));
  return memory;
}

/* A tensor describes memory and never owns it. NULL strides: contiguous. */
static bnapiTensor* tensor(const int64_t* dims, uint64_t rank, void* memory) {
  bnapiTensor* made =
      bnapiCreateTensor(dims, rank, BNAPI_FLOAT, NULL, 0, BNAPI_FORMAT_ND, dims, rank, memory);
  if (made == NULL) check(BNAPI_ERR_INNER);
  return made;
}

int main(void) {
  const int64_t data_dims[] = {kSamples, kChannels};
  const int64_t channel_dims[] = {kChannels};
  const float grad_out[kValues] = {1, -1, 0.5f, 2, -2, 3};
  const float input[kValues] = {2, 0, 4, 1, 9, -5};
  const float mean[kChannels] = {5, -1};
  const float invstd[kChannels] = {0.25f, 2};
  const float zeros[kChannels] = {0, 0};
  const char* const names[] = {"sumDy", "sumDyXmu", "gradWeight", "gradBias"};

  void* memory[8];
  bnapiTensor* tensors[8];
  uint64_t workspace_size = 0;
  void* workspace = NULL;
  bnapiOpExecutor* executor = NULL;
  int i;

  check(bnapiInit(NULL));
  printf("%s\n\n", bnapiGetBuildInfo());

  memory[0] = to_device(grad_out, kValues);
  memory[1] = to_device(input, kValues);
  memory[2] = to_device(mean, kChannels);
  memory[3] = to_device(invstd, kChannels);
  for (i = 4; i < 8; ++i)
    memory[i] = to_device(zeros, kChannels);
  for (i = 0; i < 2; ++i)
    tensors[i] = tensor(data_dims, 2, memory[i]);
  for (i = 2; i < 8; ++i)
    tensors[i] = tensor(channel_dims, 1, memory[i]);

  /* Phase one checks everything and plans. */
  check(bnapiBatchNormReduceBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3], NULL,
                                                     true, true, true, tensors[4], tensors[5], tensors[6],
                                                     tensors[7], &workspace_size, &executor));
  if (workspace_size > 0) check(bnapiMalloc(&workspace, workspace_size));

  /* Phase two enqueues the work on a stream (NULL: the default one) and returns. */
  check(bnapiBatchNormReduceBackward(workspace, workspace_size, executor, NULL));
  check(bnapiSynchronizeStream(NULL));

  printf("%-12s%12s%12s\n", "", "channel 0", "channel 1");
  for (i = 0; i < 4; ++i) {
    float result[kChannels];
    check(bnapiMemcpy(result, sizeof result, memory[4 + i], sizeof result, BNAPI_MEMCPY_DEVICE_TO_HOST));
    printf("%-12s%12g%12g\n", names[i], (double)result[0], (double)result[1]);
  }

  for (i = 0; i < 8; ++i) {
    check(bnapiDestroyTensor(tensors[i]));
    check(bnapiFree(memory[i]));
  }
  if (workspace != NULL) check(bnapiFree(workspace));
  check(bnapiFinalize());
  return 0;
}
