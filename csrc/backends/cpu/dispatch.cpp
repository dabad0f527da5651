// The instruction set in use, and the way from a task to its kernel.
#include <cstdlib>
#include <cstring>

#include "backends/cpu/kernels.h"
#include "backends/cpu/plan.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace bn::cpu {
namespace {

struct Isa {
  const char* name;
  RunTask run;
  bool (*supported)();
};

#if defined(__x86_64__)
// The compiler's own cpuid reading, which also asks whether the operating system saves the registers.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif
bool has_baseline() {
  return true;
}

// Best first.
constexpr Isa kIsas[] = {
#if defined(__x86_64__)
    {"avx512", avx512::run, has_avx512},
    {"avx2", avx2::run, has_avx2},
#endif
    {"baseline", baseline::run, has_baseline},
};

// BNAPI_ISA names the best instruction set to use; one that the CPU lacks, or an unknown name, counts as not set.
const Isa& choose() {
  const char* wanted = getenv("BNAPI_ISA");
  if (wanted != nullptr) {
    for (const Isa& isa : kIsas) {
      if (strcmp(isa.name, wanted) == 0 && isa.supported()) return isa;
    }
  }
  for (const Isa& isa : kIsas) {
    if (isa.supported()) return isa;
  }
  return kIsas[sizeof(kIsas) / sizeof(kIsas[0]) - 1];
}

const Isa& isa() {
  static const Isa& chosen = choose();
  return chosen;
}

// Round to nearest, subnormals on, no traps; the caller's settings come back at the end.
class FloatingPointEnvironment {
 public:
#if defined(__x86_64__)
  FloatingPointEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~FloatingPointEnvironment() { _mm_setcsr(saved_); }

 private:
  static constexpr unsigned kDefault = 0x1F80;
  unsigned saved_;
#elif defined(__aarch64__)
  FloatingPointEnvironment() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
  }
  ~FloatingPointEnvironment() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }

 private:
  uint64_t saved_;
#endif
};

}  // namespace

void run_task(const Program& bound, const Plan& plan, void* workspace, int stage, int64_t task) noexcept {
  const FloatingPointEnvironment environment;
  isa().run(bound, static_cast<const Schedule&>(plan), static_cast<char*>(workspace), stage, task);
}

const char* isa_in_use() {
  return isa().name;
}

const char* isas_built() {
#if defined(__x86_64__)
  return "avx512 avx2 baseline";
#else
  return "baseline";
#endif
}

}  // namespace bn::cpu
