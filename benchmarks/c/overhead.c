/* What a call costs on top of its work: operators on a (2, 8, 4, 4) float32 tensor through C.
 *
 * "two-phase" is a call as most programs make it: tensors exist, the plan is made, run and spent, the stream waited
 * for. "repeatable" runs a plan that exists, "re-aimed" gives it new addresses before. In nanoseconds: the median of
 * rounds, and the fastest round; `sync` in the last column is the wait alone, which the others contain.
 *
 *     cc -O2 overhead.c -lbn_api -o overhead        (`make overhead` does it)
 */
#define _POSIX_C_SOURCE 200809L
#include <bn_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kN = 2, kC = 8, kSide = 4, kElements = kN * kC * kSide * kSide, kRounds = 31, kCalls = 2000 };

static void check(bnapiStatus status) {
  if (status == BNAPI_SUCCESS) return;
  fprintf(stderr, "%s\n", bnapiGetRecentErrMsg());
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static float data[4][kElements];
static float vectors[12][kC];
static bnapiTensor *big[4], *small[12];
static bnapiBoolArray* mask;
static void *workspace, *addresses[10];
static uint64_t workspace_size;

typedef bnapiStatus (*Run)(void*, uint64_t, bnapiOpExecutor*, bnapiStream);
typedef bnapiStatus (*Plan)(uint64_t*, bnapiOpExecutor**);

static bnapiStatus plan_reduce_backward(uint64_t* size, bnapiOpExecutor** executor) {
  return bnapiBatchNormReduceBackwardGetWorkspaceSize(big[0], big[1], small[0], small[1], small[2], true,
                                                      true, true, small[4], small[5], small[6], small[7],
                                                      size, executor);
}
static bnapiStatus plan_train(uint64_t* size, bnapiOpExecutor** executor) {
  return bnapiBatchNormGetWorkspaceSize(big[1], small[2], small[3], small[8], small[9], true, 0.1, 1e-5,
                                        big[2], small[4], small[5], size, executor);
}
static bnapiStatus plan_eval(uint64_t* size, bnapiOpExecutor** executor) {
  return bnapiBatchNormGetWorkspaceSize(big[1], small[2], small[3], small[8], small[9], false, 0.1, 1e-5,
                                        big[2], NULL, NULL, size, executor);
}
static bnapiStatus plan_backward(uint64_t* size, bnapiOpExecutor** executor) {
  return bnapiBatchNormBackwardGetWorkspaceSize(big[0], big[1], small[2], small[8], small[9], small[0],
                                                small[1], true, 1e-5, mask, big[2], small[4], small[5], size,
                                                executor);
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void two_phase(Plan plan, Run run, bnapiOpExecutor* executor) {
  uint64_t size = 0;
  check(plan(&size, &executor));
  check(run(workspace, workspace_size, executor, NULL));
  check(bnapiSynchronizeStream(NULL));
}
static void repeatable(Plan plan, Run run, bnapiOpExecutor* executor) {
  (void)plan;
  check(run(workspace, workspace_size, executor, NULL));
  check(bnapiSynchronizeStream(NULL));
}
static void re_aimed(Plan plan, Run run, bnapiOpExecutor* executor) {
  check(bnapiSetTensorAddrs(executor, addresses, 2));
  repeatable(plan, run, executor);
}
static void sync_alone(Plan plan, Run run, bnapiOpExecutor* executor) {
  (void)plan, (void)run, (void)executor;
  check(bnapiSynchronizeStream(NULL));
}

/* Prints the median over rounds, and the fastest round. */
static void measure(void (*call)(Plan, Run, bnapiOpExecutor*), Plan plan, Run run,
                    bnapiOpExecutor* executor) {
  double rounds[kRounds];
  int r, i;
  for (r = 0; r < kRounds; ++r) {
    const double begin = now();
    for (i = 0; i < kCalls; ++i)
      call(plan, run, executor);
    rounds[r] = (now() - begin) / kCalls;
  }
  qsort(rounds, kRounds, sizeof(rounds[0]), ascending);
  printf(" %6.0f (%4.0f)", rounds[kRounds / 2], rounds[0]);
}

int main(void) {
  static const struct {
    const char* name;
    Plan plan;
    Run run;
    int aims; /* of the first two tensors, which of data[] they are */
  } cases[] = {
      {"batch_norm_reduce_backward", plan_reduce_backward, bnapiBatchNormReduceBackward, 0},
      {"batch_norm (training)", plan_train, bnapiBatchNorm, 1},
      {"batch_norm (inference)", plan_eval, bnapiBatchNorm, 1},
      {"batch_norm_backward", plan_backward, bnapiBatchNormBackward, 0},
  };
  const int64_t shape[4] = {kN, kC, kSide, kSide};
  const int64_t channels = kC;
  const bool all[3] = {true, true, true};
  size_t i, k;

  for (i = 0; i < 4; ++i) {
    for (k = 0; k < kElements; ++k)
      data[i][k] = (float)((k * 37 + i * 11) % 64) / 16 - 2;
    big[i] = bnapiCreateTensor(shape, 4, BNAPI_FLOAT, NULL, 0, BNAPI_FORMAT_NCHW, shape, 4, data[i]);
  }
  for (i = 0; i < 12; ++i) {
    for (k = 0; k < kC; ++k)
      vectors[i][k] = 1;
    small[i] =
        bnapiCreateTensor(&channels, 1, BNAPI_FLOAT, NULL, 0, BNAPI_FORMAT_ND, &channels, 1, vectors[i]);
  }
  mask = bnapiCreateBoolArray(all, 3);

  printf("%s\n%-28s %13s %13s %13s %13s\n", bnapiGetBuildInfo(), "ns per call", "two-phase", "repeatable",
         "re-aimed", "sync");
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    bnapiOpExecutor* executor;
    workspace = NULL;
    check(cases[i].plan(&workspace_size, &executor));
    if (workspace_size > 0) check(bnapiMalloc(&workspace, workspace_size));
    check(bnapiSetOpExecutorRepeatable(executor));
    addresses[0] = data[cases[i].aims];
    addresses[1] = cases[i].aims == 1 ? vectors[2] : data[1];
    printf("%-28s", cases[i].name);
    measure(two_phase, cases[i].plan, cases[i].run, NULL);
    measure(repeatable, cases[i].plan, cases[i].run, executor);
    measure(re_aimed, cases[i].plan, cases[i].run, executor);
    measure(sync_alone, cases[i].plan, cases[i].run, executor);
    printf("\n");
    check(bnapiDestroyOpExecutor(executor));
    if (workspace != NULL) check(bnapiFree(workspace));
  }
  for (i = 0; i < 4; ++i)
    check(bnapiDestroyTensor(big[i]));
  for (i = 0; i < 12; ++i)
    check(bnapiDestroyTensor(small[i]));
  check(bnapiDestroyBoolArray(mask));
  return 0;
}
