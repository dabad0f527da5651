// Tests of the emulator itself: what it must catch is planted here, and caught; what it offers works.
#include <cuda_runtime.h>

#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

int g_failures = 0;

#define EXPECT(condition)                                            \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      printf("    last message: %s\n", bn_simt_last_message());      \
      ++g_failures;                                                  \
    }                                                                \
  } while (false)

#define EXPECT_ERROR(call, wanted)                                                                       \
  do {                                                                                                   \
    const cudaError_t got_error = (call);                                                                \
    if (got_error != (wanted)) {                                                                         \
      printf("%s:%d: %s gave %s, not %s (%s)\n", __FILE__, __LINE__, #call, cudaGetErrorName(got_error), \
             #wanted, bn_simt_last_message());                                                           \
      ++g_failures;                                                                                      \
    }                                                                                                    \
  } while (false)

#define OK(call) EXPECT_ERROR(call, cudaSuccess)

bool said(const char* text) {
  return std::string(bn_simt_last_message()).find(text) != std::string::npos;
}

struct Shape {
  dim3 grid, block;
  size_t shared_bytes = 0;
  unsigned cluster = 1;
};

template <class... Params, class... Args>
cudaError_t launch(const Shape& shape, cudaStream_t stream, void (*kernel)(Params...), const Args&... args) {
  cudaLaunchConfig_t config;
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {shape.cluster, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  return bn_simt_launch(&config, "test", reinterpret_cast<const void*>(kernel),
                        [kernel, values = std::tuple<Params...>(args...)] { std::apply(kernel, values); });
}

template <class T>
T load(const T* address) {
  return *static_cast<const T*>(bn_simt_note_load(address, sizeof(T)));
}
template <class T>
void store(T* address, T value) {
  *static_cast<T*>(bn_simt_note_store(address, sizeof(T))) = value;
}

template <class T>
struct DeviceArray {
  explicit DeviceArray(size_t count_) : count(count_) { OK(cudaMalloc(&data, count * sizeof(T))); }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    OK(cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() {
    bn_simt_reset();
    OK(cudaFree(data));
  }
  std::vector<T> host() const {
    std::vector<T> values(count);
    OK(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  T* data = nullptr;
  size_t count;
};

// Runs the rest with each order of threads.
const char* const kSchedules[] = {"order", "reversed", "random:1", "random:2"};

// ---- kernels -------------------------------------------------------------------------------------------------

template <class T>
T* shared() {
  return reinterpret_cast<T*>(bn_simt_dynamic_shared());
}

// out = in, with each block's elements in the opposite order.
__global__ void reverse_blocks(const int* in, int* out, bool with_barrier) {
  int* tile = shared<int>();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = load(in + i);
  if (with_barrier) __syncthreads();
  store(out + i, tile[blockDim.x - 1 - threadIdx.x]);
}

// Sum of a block by shuffles and shared memory, twice, so that the memory is used again.
__global__ void sum_twice(const double* in, double* out, bool second_barrier) {
  double* partial = shared<double>();
  for (int round = 0; round < 2; ++round) {
    double sum = load(in + blockIdx.x * blockDim.x + threadIdx.x) * (round + 1);
    for (int delta = 16; delta > 0; delta /= 2)
      sum += __shfl_down_sync(0xFFFFFFFFu, sum, delta);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    double total = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w)
      total += partial[w];
    if (second_barrier) __syncthreads();
    if (threadIdx.x == blockDim.x - 1) store(out + blockIdx.x * 2 + round, total);
  }
}

__global__ void shuffles(int* out) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  int* mine = out + threadIdx.x * 8;
  store(mine + 0, __shfl_sync(0xFFFFFFFFu, lane * 10, 3));
  store(mine + 1, __shfl_up_sync(0xFFFFFFFFu, lane, 2));
  store(mine + 2, __shfl_down_sync(0xFFFFFFFFu, lane, 4, 8));
  store(mine + 3, static_cast<int>(__shfl_xor_sync(0xFFFFFFFFu, 1e9 + lane, 1) - 1e9));
  store(mine + 4, static_cast<int>(__ballot_sync(0xFFFFFFFFu, lane < 5)));
  store(mine + 5, __any_sync(0xFFFFFFFFu, lane == 31) * 2 + __all_sync(0xFFFFFFFFu, lane < 31));
  // Two halves of a warp, each on its own.
  const unsigned half = lane < 16 ? 0x0000FFFFu : 0xFFFF0000u;
  store(mine + 6, lane < 16 ? __shfl_sync(half, lane, 7) : __shfl_sync(half, lane, 23));
  store(mine + 7, __syncthreads_count(lane < 3));
}

__global__ void early_return() {
  if (threadIdx.x == 5) return;
  __syncthreads();
}

__global__ void divergent_barriers() {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void lane_returns() {
  if (threadIdx.x == 9) return;
  __shfl_down_sync(0xFFFFFFFFu, 1, 1);
}

__global__ void lanes_apart() {
  if (threadIdx.x < 16) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

__global__ void read_unset_shared(float* out) {
  store(out + threadIdx.x, shared<float>()[threadIdx.x]);
}

[[maybe_unused]] __global__ void write_past_shared() {
  shared<char>()[64 + threadIdx.x] = 0;
}

__global__ void copy_ints(const int* in, int* out, int offset, int stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  store(out + i, load(in + offset + static_cast<int>(i) * stride));
}

__global__ void load_16(const char* in, int offset, int* out) {
  const int4 value = load(reinterpret_cast<const int4*>(in + offset) + threadIdx.x);
  store(out + threadIdx.x, value.x + value.y + value.z + value.w);
}

__global__ void count_up(unsigned* counter, unsigned* last) {
  const unsigned before = atomicAdd(counter, 1u);
  if (before == gridDim.x * blockDim.x - 1) store(last, blockIdx.x);
}

__global__ void sum_of_cluster(int* out) {
  const auto cluster = cooperative_groups::this_cluster();
  int* mine = shared<int>();
  if (threadIdx.x == 0) *mine = static_cast<int>(blockIdx.x) + 1;
  cluster.sync();
  int sum = 0;
  for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank)
    sum += *cluster.map_shared_rank(mine, rank);
  cluster.sync();
  if (threadIdx.x == 1) store(out + blockIdx.x, sum);
}

// ---- tests ---------------------------------------------------------------------------------------------------

std::vector<int> numbers(int count) {
  std::vector<int> values(count);
  for (int i = 0; i < count; ++i)
    values[i] = i;
  return values;
}

void test_barrier_and_a_missing_one() {
  const DeviceArray<int> in(numbers(256));
  std::vector<int> wanted(256);
  for (int i = 0; i < 256; ++i)
    wanted[i] = i / 64 * 64 + 63 - i % 64;
  for (const char* schedule : kSchedules) {
    EXPECT(bn_simt_set_schedule(schedule));
    const DeviceArray<int> out(256), broken(256);
    OK(launch({4, 64, 64 * sizeof(int)}, nullptr, reverse_blocks, in.data, out.data, true));
    EXPECT(out.host() == wanted);
    OK(launch({4, 64, 64 * sizeof(int)}, nullptr, reverse_blocks, in.data, broken.data, false));
    EXPECT(broken.host() != wanted);
  }
  bn_simt_set_schedule("order");
}

void test_missing_second_barrier_changes_with_the_schedule() {
  const std::vector<double> values(128, 1.0);
  const DeviceArray<double> in(values);
  bool differs = false;
  for (const char* schedule : kSchedules) {
    bn_simt_set_schedule(schedule);
    const DeviceArray<double> out(2), broken(2);
    OK(launch({1, 128, 32}, nullptr, sum_twice, in.data, out.data, true));
    EXPECT((out.host() == std::vector<double>{128, 256}));
    OK(launch({1, 128, 32}, nullptr, sum_twice, in.data, broken.data, false));
    differs = differs || broken.host() != out.host();
  }
  bn_simt_set_schedule("order");
  EXPECT(differs);
}

void test_shuffles_and_votes() {
  for (const char* schedule : kSchedules) {
    bn_simt_set_schedule(schedule);
    const DeviceArray<int> out(64 * 8);
    OK(launch({1, 64}, nullptr, shuffles, out.data));
    const std::vector<int> got = out.host();
    for (int t = 0; t < 64; ++t) {
      const int lane = t % 32;
      const int* mine = &got[t * 8];
      EXPECT(mine[0] == 30);
      EXPECT(mine[1] == (lane < 2 ? lane : lane - 2));
      EXPECT(mine[2] == (lane % 8 < 4 ? lane + 4 : lane));
      EXPECT(mine[3] == (lane ^ 1));
      EXPECT(mine[4] == 31);
      EXPECT(mine[5] == 2);
      EXPECT(mine[6] == (lane < 16 ? 7 : 23));
      EXPECT(mine[7] == 6);
    }
  }
  bn_simt_set_schedule("order");
}

// A kernel that must stop; the error stays, as it does on a device.
template <class... Params, class... Args>
void expect_stop(cudaError_t error, const char* text, const Shape& shape, void (*kernel)(Params...),
                 const Args&... args) {
  OK(launch(shape, nullptr, kernel, args...));
  EXPECT_ERROR(cudaDeviceSynchronize(), error);
  EXPECT(said(text));
  EXPECT_ERROR(cudaDeviceSynchronize(), error);
  bn_simt_reset();
  OK(cudaDeviceSynchronize());
}

void test_threads_that_do_not_meet() {
  for (const char* schedule : kSchedules) {
    bn_simt_set_schedule(schedule);
    expect_stop(cudaErrorLaunchFailure, "have returned", {1, 64}, early_return);
    expect_stop(cudaErrorLaunchFailure, "divergent", {1, 64}, divergent_barriers);
    expect_stop(cudaErrorLaunchFailure, "have returned", {1, 32}, lane_returns);
    expect_stop(cudaErrorLaunchFailure, "deadlock", {1, 32}, lanes_apart);
  }
  bn_simt_set_schedule("order");
  // 20 threads do not make a warp: the full mask names lanes that are not there.
  const DeviceArray<int> out(20 * 8);
  expect_stop(cudaErrorLaunchFailure, "do not exist", {1, 20}, shuffles, out.data);
}

void test_shared_memory() {
  const DeviceArray<float> out(32);
  OK(launch({1, 32, 128}, nullptr, read_unset_shared, out.data));
  for (const float value : out.host())
    EXPECT(value != value);
#if !defined(__SANITIZE_ADDRESS__)  // which ends the process
  expect_stop(cudaErrorIllegalAddress, "past the end of its shared memory", {1, 4, 64}, write_past_shared);
#endif
}

void test_addresses() {
  const DeviceArray<int> in(numbers(64));
  const DeviceArray<int> out(64);
  const DeviceArray<int> sums(8);
  OK(launch({1, 64}, nullptr, copy_ints, in.data, out.data, 0, 1));
  EXPECT(out.host() == numbers(64));
  expect_stop(cudaErrorIllegalAddress, "load of 4 bytes", {1, 64}, copy_ints, in.data, out.data, 1, 1);
  expect_stop(cudaErrorIllegalAddress, "outside every live allocation", {1, 64}, copy_ints, in.data, out.data,
              -1, 1);
  expect_stop(cudaErrorIllegalAddress, "store of 4 bytes", {2, 64}, copy_ints, in.data, out.data, 0, 0);
  int on_stack[64] = {};
  expect_stop(cudaErrorIllegalAddress, "memory of the host", {1, 64}, copy_ints, on_stack, out.data, 0, 1);
  const char* bytes = reinterpret_cast<const char*>(in.data);
  OK(launch({1, 8}, nullptr, load_16, bytes, 16, sums.data));
  EXPECT(sums.host()[0] == 4 + 5 + 6 + 7);
  expect_stop(cudaErrorMisalignedAddress, "not a multiple", {1, 8}, load_16, bytes, 4, sums.data);
  // Freed memory.
  int* freed = nullptr;
  OK(cudaMalloc(&freed, 256));
  OK(cudaFree(freed));
  expect_stop(cudaErrorIllegalAddress, "outside every live allocation", {1, 64}, copy_ints, freed, out.data,
              0, 1);
  EXPECT_ERROR(cudaFree(freed), cudaErrorInvalidValue);
}

// The useful part of what copy_ints loads, in percent.
int load_efficiency(const DeviceArray<int>& in, const DeviceArray<int>& out, int offset, int stride) {
  bn_simt_set_counting(true);
  bn_simt_reset_report();
  OK(launch({2, 64}, nullptr, copy_ints, in.data, out.data, offset, stride));
  OK(cudaDeviceSynchronize());
  bn_simt_set_counting(false);
  int blocks = 0, accesses = 0, useful = 0, moved = 0;
  const char* report = bn_simt_report();
  const char* run = strstr(report, "\"blocks_run\"");
  EXPECT(run != nullptr && sscanf(run, "\"blocks_run\": %d", &blocks) == 1 && blocks == 2);
  const char* load = strstr(report, "\"load\"");
  EXPECT(load != nullptr &&
         sscanf(load, "\"load\": {\"accesses\": %d, \"useful_bytes\": %d, \"moved_bytes\": %d", &accesses,
                &useful, &moved) == 3);
  EXPECT(accesses == 4);
  EXPECT(useful == (stride == 0 ? 4 * 4 : 4 * 32 * 4));
  return moved == 0 ? 0 : useful * 100 / moved;
}

void test_coalescing_is_counted() {
  const DeviceArray<int> in(128 * 8);
  const DeviceArray<int> out(128);
  for (const char* schedule : kSchedules) {
    bn_simt_set_schedule(schedule);
    EXPECT(load_efficiency(in, out, 0, 1) == 100);
    EXPECT(load_efficiency(in, out, 1, 1) == 80);  // 5 sectors for 4
    EXPECT(load_efficiency(in, out, 0, 2) == 50);
    EXPECT(load_efficiency(in, out, 0, 8) == 12);  // planted: a sector for every lane
    EXPECT(load_efficiency(in, out, 0, 0) == 12);  // all lanes the same 4 bytes
  }
  bn_simt_set_schedule("order");
}

void test_copies_between_spaces() {
  std::vector<int> host = numbers(16);
  const DeviceArray<int> a(16), b(16);
  int* pinned = nullptr;
  OK(cudaMallocHost(&pinned, 64));
  OK(cudaMemcpy(a.data, host.data(), 64, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(b.data, a.data, 64, cudaMemcpyDefault));
  OK(cudaMemcpy(pinned, b.data, 64, cudaMemcpyDefault));
  EXPECT(pinned[15] == 15);
  EXPECT_ERROR(cudaMemcpy(a.data, b.data, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(a.data, host.data(), 64, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(host.data(), a.data, 64, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(host.data(), pinned, 64, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(a.data, host.data(), 65, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemset(a.data + 1, 0, 64), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemset(host.data(), 0, 64), cudaErrorInvalidValue);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, a.data + 3));
  EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
  OK(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  OK(cudaPointerGetAttributes(&attributes, host.data()));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  OK(cudaFreeHost(pinned));
}

void test_memory_is_poisoned_and_limited() {
  const DeviceArray<float> fresh(8);
  for (const float value : fresh.host())
    EXPECT(value != value);
  size_t free_before = 0, free_after = 0, total = 0;
  OK(cudaMemGetInfo(&free_before, &total));
  {
    const DeviceArray<char> some(1000);
    OK(cudaMemGetInfo(&free_after, &total));
    EXPECT(free_before - free_after == 1000);
  }
  void* memory = nullptr;
  EXPECT_ERROR(cudaMalloc(&memory, total + 1), cudaErrorMemoryAllocation);
  EXPECT(memory == nullptr);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_ERROR(cudaGetLastError(), cudaSuccess);
}

void test_launch_limits() {
  const DeviceArray<float> out(32);
  const auto go = [&](const Shape& shape) { return launch(shape, nullptr, read_unset_shared, out.data); };
  EXPECT_ERROR(go({1, 1025}), cudaErrorInvalidConfiguration);
  EXPECT_ERROR(go({1, dim3(1, 1, 65)}), cudaErrorInvalidConfiguration);
  EXPECT_ERROR(go({1, 0}), cudaErrorInvalidConfiguration);
  EXPECT_ERROR(go({0, 32}), cudaErrorInvalidConfiguration);
  EXPECT_ERROR(go({dim3(1, 65536), 32}), cudaErrorInvalidConfiguration);
  EXPECT_ERROR(go({0x80000000u, 32}), cudaErrorInvalidConfiguration);
  EXPECT_ERROR(go({1, 32, 49153}), cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(read_unset_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  OK(go({1, 32, 227 * 1024}));
  EXPECT_ERROR(go({1, 32, 227 * 1024 + 1}), cudaErrorInvalidValue);
  EXPECT_ERROR(
      cudaFuncSetAttribute(read_unset_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024),
      cudaErrorInvalidValue);
  EXPECT_ERROR(go({16, 32, 128, 16}), cudaErrorInvalidConfiguration);
  EXPECT_ERROR(go({9, 32, 128, 2}), cudaErrorInvalidConfiguration);
  OK(cudaDeviceSynchronize());
}

void test_clusters() {
  for (const char* schedule : kSchedules) {
    bn_simt_set_schedule(schedule);
    const DeviceArray<int> out(8);
    OK(launch({8, 32, sizeof(int), 4}, nullptr, sum_of_cluster, out.data));
    EXPECT((out.host() == std::vector<int>{10, 10, 10, 10, 26, 26, 26, 26}));
  }
  bn_simt_set_schedule("order");
}

void test_atomics() {
  const DeviceArray<unsigned> counter(std::vector<unsigned>(2, 0u));
  OK(launch({10, 64}, nullptr, count_up, counter.data, counter.data + 1));
  EXPECT((counter.host() == std::vector<unsigned>{640, 9}));
}

void test_streams_are_deferred_and_ordered() {
  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t event = nullptr, later = nullptr;
  OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  OK(cudaEventCreate(&event));
  OK(cudaEventCreate(&later));
  const DeviceArray<int> in(numbers(64)), middle(64), out(64);
  int* pinned = nullptr;
  OK(cudaMallocHost(&pinned, 256));
  pinned[5] = -1;
  EXPECT_ERROR(cudaEventQuery(event), cudaSuccess);  // never recorded
  OK(launch({1, 64}, a, copy_ints, in.data, middle.data, 0, 1));
  OK(cudaEventRecord(event, a));
  OK(cudaStreamWaitEvent(b, event));
  OK(launch({1, 64}, b, copy_ints, middle.data, out.data, 0, 1));
  OK(cudaMemcpyAsync(pinned, out.data, 256, cudaMemcpyDeviceToHost, b));
  OK(cudaEventRecord(later, b));
  EXPECT(pinned[5] == -1);  // nobody has waited
  EXPECT_ERROR(cudaEventQuery(later), cudaErrorNotReady);
  float milliseconds = -1;
  EXPECT_ERROR(cudaEventElapsedTime(&milliseconds, event, later), cudaErrorNotReady);
  OK(cudaStreamSynchronize(b));
  EXPECT(pinned[5] == 5);
  EXPECT_ERROR(cudaEventQuery(later), cudaSuccess);
  EXPECT_ERROR(cudaStreamQuery(a), cudaSuccess);  // what b waited for
  OK(cudaEventElapsedTime(&milliseconds, event, later));
  EXPECT(milliseconds >= 0);
  // Asking moves the work on.
  OK(cudaMemsetAsync(out.data, 0, 256, a));
  OK(cudaMemsetAsync(out.data, 1, 256, a));
  int asked = 0;
  while (cudaStreamQuery(a) == cudaErrorNotReady)
    ++asked;
  EXPECT(asked == 2);
  // The null stream waits for streams made without flags, and they for it.
  cudaStream_t blocking = nullptr;
  OK(cudaStreamCreate(&blocking));
  OK(cudaMemsetAsync(out.data, 3, 256, blocking));
  OK(cudaMemsetAsync(middle.data, 7, 256, a));
  OK(launch({1, 64}, nullptr, copy_ints, out.data, middle.data, 0, 1));
  OK(cudaStreamSynchronize(nullptr));
  EXPECT(cudaStreamQuery(blocking) == cudaSuccess);
  EXPECT(cudaStreamQuery(a) == cudaErrorNotReady);
  OK(cudaStreamSynchronize(a));
  // Destroyed with work in it: the work is still done.
  OK(cudaMemsetAsync(out.data, 0, 256, a));
  OK(cudaStreamDestroy(a));
  EXPECT_ERROR(cudaStreamSynchronize(a), cudaErrorInvalidResourceHandle);
  OK(cudaDeviceSynchronize());
  EXPECT(out.host()[0] == 0);
  OK(cudaStreamDestroy(b));
  OK(cudaStreamDestroy(blocking));
  OK(cudaEventDestroy(event));
  EXPECT_ERROR(cudaEventRecord(event), cudaErrorInvalidResourceHandle);
  OK(cudaEventDestroy(later));
  OK(cudaFreeHost(pinned));
}

void test_host_functions_run_in_order() {
  std::vector<int> seen;
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreate(&stream));
  const auto note = [](void* data) {
    auto* list = static_cast<std::vector<int>*>(data);
    list->push_back(static_cast<int>(list->size()));
  };
  OK(cudaLaunchHostFunc(stream, note, &seen));
  OK(cudaLaunchHostFunc(stream, note, &seen));
  EXPECT(seen.empty());
  OK(cudaStreamSynchronize(stream));
  EXPECT((seen == std::vector<int>{0, 1}));
  OK(cudaStreamDestroy(stream));
}

void test_capture() {
  cudaStream_t stream = nullptr, side = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  const DeviceArray<int> in(numbers(64)), middle(64), out(64);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;

  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(launch({1, 64}, stream, copy_ints, in.data, middle.data, 0, 1));
  OK(cudaEventRecord(fork, stream));
  OK(cudaStreamWaitEvent(side, fork));
  OK(launch({1, 64}, side, copy_ints, middle.data, out.data, 0, 1));
  OK(cudaEventRecord(join, side));
  OK(cudaStreamWaitEvent(stream, join));
  OK(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 2);
  OK(cudaGraphInstantiate(&exec, graph));
  OK(cudaGraphDestroy(graph));
  for (int repeat = 0; repeat < 2; ++repeat) {
    OK(cudaMemsetAsync(out.data, 0, 256, stream));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(out.host() == numbers(64));
  }
  OK(cudaGraphExecDestroy(exec));

  // What must not be done during capture spoils it.
  void* memory = nullptr;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaMalloc(&memory, 16), cudaErrorStreamCaptureUnsupported);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_ERROR(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  OK(cudaMalloc(&memory, 16));
  OK(cudaFree(memory));
  OK(cudaEventQuery(join));
  OK(cudaEventRecord(fork, stream));
  EXPECT_ERROR(cudaEventSynchronize(fork), cudaErrorCapturedEvent);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  // Questions about other work, too, unless the thread asks for relaxed rules.
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  OK(cudaEventQuery(join));
  OK(cudaStreamQuery(side));
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_ERROR(cudaEventQuery(join), cudaErrorStreamCaptureUnsupported);
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  // A fork that does not come back.
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, stream));
  OK(cudaStreamWaitEvent(side, fork));
  OK(cudaMemsetAsync(out.data, 0, 256, side));
  EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_ERROR(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
               cudaErrorStreamCaptureUnsupported);
  OK(cudaEventDestroy(fork));
  OK(cudaEventDestroy(join));
  OK(cudaStreamDestroy(side));
  OK(cudaStreamDestroy(stream));
}

void test_sampling() {
  const DeviceArray<int> in(numbers(64 * 100));
  const DeviceArray<int> out(64 * 100);
  bn_simt_set_sample(5, nullptr);
  OK(launch({100, 64}, nullptr, copy_ints, in.data, out.data, 0, 1));
  int done = 0;
  for (const int value : out.host())
    done += value >= 0;  // poison is -1
  bn_simt_set_sample(0, nullptr);
  EXPECT(done == 5 * 64);
}

}  // namespace

int main() {
  bn_simt_set_loud(false);
  test_barrier_and_a_missing_one();
  test_missing_second_barrier_changes_with_the_schedule();
  test_shuffles_and_votes();
  test_threads_that_do_not_meet();
  test_shared_memory();
  test_addresses();
  test_coalescing_is_counted();
  test_copies_between_spaces();
  test_memory_is_poisoned_and_limited();
  test_launch_limits();
  test_clusters();
  test_atomics();
  test_streams_are_deferred_and_ordered();
  test_host_functions_run_in_order();
  test_capture();
  test_sampling();
  printf(g_failures == 0 ? "passed\n" : "%d failures\n", g_failures);
  return g_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
