/* A host program as a user writes one: plans, runs and checks one operator. Valid C99 and C++11, so that
 * the same text is compiled as both against an installed library. */
#include <stdio.h>
#include <stdlib.h>

#include "bn_api.h"

static int failures = 0;

static void check(bnapiStatus status, const char* what) {
  if (status != BNAPI_SUCCESS) {
    printf("%s: %d %s\n", what, (int)status, bnapiGetRecentErrMsg());
    exit(1);
  }
}

static void expect(const char* name, float got, float want) {
  if (got != want) {
    printf("%s: %g instead of %g\n", name, (double)got, (double)want);
    ++failures;
  }
}

static bnapiTensor* describe(const int64_t* dims, uint64_t rank, float* data) {
  return bnapiCreateTensor(dims, rank, BNAPI_FLOAT, NULL, 0, BNAPI_FORMAT_ND, dims, rank, data);
}

/* Device memory with the values of `host` in it. */
static float* upload(const float* host, size_t count) {
  void* memory = NULL;
  check(bnapiMalloc(&memory, count * sizeof(float)), "bnapiMalloc");
  check(bnapiMemcpy(memory, count * sizeof(float), host, count * sizeof(float), BNAPI_MEMCPY_HOST_TO_DEVICE),
        "bnapiMemcpy");
  return (float*)memory;
}

int main(void) {
  /* Two channels of four values; every sum is exact. */
  const int64_t data_dims[] = {2, 2, 2};
  const int64_t channel_dims[] = {2};
  const float dy_host[] = {1, 2, 3, -1, 0.5f, 4, 2, 2};
  const float x_host[] = {1, 3, 5, 7, 2, 4, 6, 8};
  const float mean_host[] = {2, 6};
  const float invstd_host[] = {0.5f, 2};
  float* dy_data = upload(dy_host, 8);
  float* x_data = upload(x_host, 8);
  float* mean_data = upload(mean_host, 2);
  float* invstd_data = upload(invstd_host, 2);
  float* out_data[4];
  float out_host[4][2];
  bnapiTensor* out[4];
  bnapiTensor* in[4];
  uint64_t workspace_size = 0;
  bnapiOpExecutor* executor = NULL;
  void* workspace = NULL;
  int i;

  in[0] = describe(data_dims, 3, dy_data);
  in[1] = describe(data_dims, 3, x_data);
  in[2] = describe(channel_dims, 1, mean_data);
  in[3] = describe(channel_dims, 1, invstd_data);
  for (i = 0; i < 4; ++i) {
    out_data[i] = upload(mean_host, 2);
    out[i] = describe(channel_dims, 1, out_data[i]);
  }

  check(
      bnapiBatchNormReduceBackwardGetWorkspaceSize(in[0], in[1], in[2], in[3], NULL, true, true, true, out[0],
                                                   out[1], out[2], out[3], &workspace_size, &executor),
      "phase one");
  if (workspace_size > 0) check(bnapiMalloc(&workspace, workspace_size), "workspace");
  check(bnapiBatchNormReduceBackward(workspace, workspace_size, executor, NULL), "phase two");
  check(bnapiSynchronizeDevice(), "bnapiSynchronizeDevice");

  for (i = 0; i < 4; ++i) {
    check(bnapiMemcpy(out_host[i], sizeof out_host[i], out_data[i], sizeof out_host[i],
                      BNAPI_MEMCPY_DEVICE_TO_HOST),
          "bnapiMemcpy");
    check(bnapiDestroyTensor(in[i]), "bnapiDestroyTensor");
    check(bnapiDestroyTensor(out[i]), "bnapiDestroyTensor");
    check(bnapiFree(out_data[i]), "bnapiFree");
  }
  check(bnapiFree(dy_data), "bnapiFree");
  check(bnapiFree(x_data), "bnapiFree");
  check(bnapiFree(mean_data), "bnapiFree");
  check(bnapiFree(invstd_data), "bnapiFree");
  if (workspace != NULL) check(bnapiFree(workspace), "bnapiFree");

  /* Channel 0: dy 1 2 0.5 4, x - mean -1 1 0 2. Channel 1: dy 3 -1 2 2, x - mean -1 1 0 2. */
  expect("sumDy[0]", out_host[0][0], 7.5f);
  expect("sumDy[1]", out_host[0][1], 6);
  expect("sumDyXmu[0]", out_host[1][0], 9);
  expect("sumDyXmu[1]", out_host[1][1], 0);
  expect("gradWeight[0]", out_host[2][0], 4.5f);
  expect("gradWeight[1]", out_host[2][1], 0);
  expect("gradBias[0]", out_host[3][0], 7.5f);
  expect("gradBias[1]", out_host[3][1], 6);
  if (failures == 0) printf("installed bn_api works\n");
  return failures != 0;
}
