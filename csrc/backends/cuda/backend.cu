// The CUDA backend: devices, memory, and the two phases of a program.

#include "backends/cuda/plan.h"
// plan.h comes first: see device.h.
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/range.h"
#include "backends/cuda/stream.h"
#include "core/status.h"

namespace bn::cuda {
namespace {

constexpr int kLeastMajor = 8;  // compute capability of the oldest chips that kernels are built for

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(std::vector<int> ordinals) : ordinals_(std::move(ordinals)) {
    for (const int ordinal : ordinals_) {
      Device device;
      cudaDeviceProp properties;
      check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
      device.name = std::string("cuda (") + properties.name + ", sm_" +
                    std::to_string(properties.major * 10 + properties.minor) + ")";
#if defined(BN_SIMT)
      device.name = "cuda (emulated)";
#endif
      device.limits.shared_bytes = static_cast<int>(properties.sharedMemPerBlockOptin);
      devices_.push_back(std::move(device));
    }
  }

  const char* name() const override { return "cuda"; }
  int device_count() const override { return static_cast<int>(ordinals_.size()); }
  std::string device_name(int ordinal) const override {
    return devices_.at(static_cast<size_t>(ordinal)).name;
  }

  void* allocate(int ordinal, size_t size_bytes) override {
    DeviceScope scope(native(ordinal));
    void* memory = nullptr;
    check(cudaMalloc(&memory, size_bytes), "cudaMalloc");
    return memory;
  }

  void release(int ordinal, void* memory) override {
    DeviceScope scope(native(ordinal));
    check(cudaFree(memory), "cudaFree");
  }

  void* allocate_host(int ordinal, size_t size_bytes) override {
    DeviceScope scope(native(ordinal));
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, size_bytes, cudaHostAllocPortable), "cudaHostAlloc");
    return memory;
  }

  void release_host(int ordinal, void* memory) override {
    DeviceScope scope(native(ordinal));
    check(cudaFreeHost(memory), "cudaFreeHost");
  }

  void memory_info(int ordinal, size_t* free_bytes, size_t* total_bytes) override {
    DeviceScope scope(native(ordinal));
    check(cudaMemGetInfo(free_bytes, total_bytes), "cudaMemGetInfo");
  }

  void copy(int ordinal, void* dst, const void* src, size_t size_bytes) override {
    CudaStream& stream = private_stream(ordinal);
    stream.copy(dst, src, size_bytes);
    stream.synchronize(-1);
  }

  void set(int ordinal, void* dst, int value, size_t size_bytes) override {
    CudaStream& stream = private_stream(ordinal);
    stream.set(dst, value, size_bytes);
    stream.synchronize(-1);
  }

  void synchronize(int ordinal) override {
    DeviceScope scope(native(ordinal));
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  std::shared_ptr<Stream> create_stream(int ordinal) override {
    return std::make_shared<CudaStream>(native(ordinal));
  }

  std::shared_ptr<Stream> wrap_stream(int ordinal, void* stream) override {
    return std::make_shared<CudaStream>(native(ordinal), static_cast<cudaStream_t>(stream));
  }

  std::shared_ptr<Event> create_event(int ordinal) override {
    return std::make_shared<CudaEvent>(native(ordinal));
  }

  std::shared_ptr<const BackendPlan> plan(int ordinal, const Program& program) override {
    return make_plan(program, devices_.at(static_cast<size_t>(ordinal)).limits);
  }

  void launch(const char* name, const std::shared_ptr<const BackendPlan>& plan, const Program& bound,
              void* workspace, Stream& stream) override {
    auto* mine = dynamic_cast<CudaStream*>(&stream);
    if (mine == nullptr)
      throw Error(BNAPI_ERR_RT_STREAM_CONTEXT, "cuda: the stream belongs to another backend");
    const ProfilerRange range(name);
    DeviceScope scope(mine->ordinal());
    run_plan(static_cast<const Plan&>(*plan), bound, workspace, static_cast<cudaStream_t>(mine->native()));
  }

 private:
  struct Device {
    std::string name;
    DeviceLimits limits;
    std::once_flag once;
    // For blocking copies and sets, which must not wait for the caller's streams. Never destroyed: at exit the
    // driver may be gone before us.
    CudaStream* stream = nullptr;

    Device() = default;
    Device(Device&& other) noexcept : name(std::move(other.name)), limits(other.limits) {}
  };

  int native(int ordinal) const { return ordinals_.at(static_cast<size_t>(ordinal)); }

  CudaStream& private_stream(int ordinal) {
    Device& device = devices_.at(static_cast<size_t>(ordinal));
    std::call_once(device.once, [&] { device.stream = new CudaStream(native(ordinal)); });
    return *device.stream;
  }

  std::vector<int> ordinals_;  // CUDA's numbers of the devices that can run the kernels
  std::vector<Device> devices_;
};

Backend* make_backend(std::string* why) {
  // Without a driver the runtime says "insufficient"; the version tells that from one that is too old.
  int driver = 0;
  int runtime = 0;
  ignore(cudaDriverGetVersion(&driver));
  ignore(cudaRuntimeGetVersion(&runtime));
  const auto text = [](int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  };
  if (driver == 0) {
    *why = "no NVIDIA driver is installed";
    return nullptr;
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    *why = "the NVIDIA driver is for CUDA " + text(driver) + "; this build needs one for CUDA " +
           text(runtime) + " (r580 or later)";
  } else if (error != cudaSuccess) {
    *why = cudaGetErrorString(error);
  }
  ignore(cudaGetLastError());
  if (error != cudaSuccess) return nullptr;
  std::vector<int> usable;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int major = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal) != cudaSuccess) continue;
    if (major >= kLeastMajor) usable.push_back(ordinal);
  }
  if (usable.empty()) {
    *why = count == 0 ? "the NVIDIA driver finds no GPU" : "no GPU of compute capability 8.0 or later";
    return nullptr;
  }
  return new CudaBackend(std::move(usable));
}

}  // namespace
}  // namespace bn::cuda

namespace bn {

Backend* cuda_backend(std::string* why) {
  struct Found {
    Backend* backend = nullptr;
    std::string why;
  };
  static const Found* found = [] {
    auto* made = new Found;
    try {
      made->backend = cuda::make_backend(&made->why);
    } catch (const std::exception& failure) {
      made->why = failure.what();
    }
    return made;
  }();
  if (why != nullptr) *why = found->why;
  return found->backend;
}

}  // namespace bn
