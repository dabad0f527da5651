// The CPU as a backend: memory from the heap, streams served by the pool.

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <cstdlib>
#include <cstring>

#include "backends/cpu/plan.h"
#include "backends/cpu/pool.h"
#include "backends/cpu/stream.h"
#include "core/status.h"

namespace bn::cpu {
namespace {

constexpr size_t kAlignment = 64;
// From this size on, memory is aligned to huge pages and asks for them: page faults and translation misses
// are a visible share of a pass over a large tensor.
constexpr size_t kHugePage = size_t{2} << 20;

class CpuBackend final : public Backend {
 public:
  const char* name() const override { return "cpu"; }
  int device_count() const override { return 1; }
  std::string device_name(int) const override {
    return std::string("cpu (") + isa_in_use() + ", " + std::to_string(num_threads()) + " threads)";
  }

  // As aclrtMalloc: rounded up to 32 bytes, with 32 to spare.
  void* allocate(int, size_t size_bytes) override {
    if (size_bytes > SIZE_MAX - 2 * kHugePage) out_of_memory(size_bytes);
    const size_t alignment = size_bytes >= 2 * kHugePage ? kHugePage : kAlignment;
    const size_t whole = (size_bytes + 31) / 32 * 32 + 32;
    void* memory = aligned_alloc(alignment, (whole + alignment - 1) / alignment * alignment);
    if (memory == nullptr) out_of_memory(size_bytes);
    if (alignment == kHugePage) madvise(memory, whole, MADV_HUGEPAGE);
    return memory;
  }

  void release(int, void* memory) override { free(memory); }

  void* allocate_host(int ordinal, size_t size_bytes) override { return allocate(ordinal, size_bytes); }
  void release_host(int ordinal, void* memory) override { release(ordinal, memory); }

  void memory_info(int, size_t* free_bytes, size_t* total_bytes) override {
    struct sysinfo info;
    if (sysinfo(&info) != 0) throw Error(BNAPI_ERR_RT_INTERNAL_ERROR, "GetMemInfo: sysinfo failed");
    *free_bytes = static_cast<size_t>(info.freeram + info.bufferram) * info.mem_unit;
    *total_bytes = static_cast<size_t>(info.totalram) * info.mem_unit;
  }

  void copy(int, void* dst, const void* src, size_t size_bytes) override { memmove(dst, src, size_bytes); }
  void set(int, void* dst, int value, size_t size_bytes) override { memset(dst, value, size_bytes); }
  void synchronize(int) override {}  // all CPU work is in streams

  std::shared_ptr<Stream> create_stream(int) override { return std::make_shared<CpuStream>(); }
  std::shared_ptr<Stream> wrap_stream(int, void*) override {
    throw Error(BNAPI_ERR_RT_FEATURE_NOT_SUPPORT, "StreamFromNative: the CPU has no native streams");
  }
  std::shared_ptr<Event> create_event(int) override { return std::make_shared<CpuEvent>(); }

  std::shared_ptr<const BackendPlan> plan(int, const Program& program) override { return make_plan(program); }

  void launch(const char*, const std::shared_ptr<const BackendPlan>& plan, const Program& bound,
              void* workspace, Stream& stream) override {
    static_cast<CpuStream&>(stream).launch(std::static_pointer_cast<const Plan>(plan), bound, workspace);
  }

 private:
  [[noreturn]] static void out_of_memory(size_t size_bytes) {
    throw Error(BNAPI_ERR_RT_MEMORY_ALLOCATION,
                "Malloc: no memory for " + std::to_string(size_bytes) + " bytes");
  }
};

}  // namespace
}  // namespace bn::cpu

namespace bn {

Backend* cpu_backend() {
  static Backend* const backend = new cpu::CpuBackend;
  return backend;
}

}  // namespace bn
