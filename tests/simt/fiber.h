// Fibers: stacks of their own that one host thread runs in turn. A switch costs a few nanoseconds on x86-64.
#pragma once

#include <cstddef>

#if !defined(__x86_64__) || defined(BN_SIMT_UCONTEXT)
#define BN_SIMT_USE_UCONTEXT 1
#include <ucontext.h>
#endif

namespace bn_simt {

class Fiber {
 public:
  // The host thread's own stack, as the fiber that others come back to.
  Fiber() = default;
  // Runs `entry` when it is first switched to; `entry` never returns.
  explicit Fiber(size_t number, void (*entry)());
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Back to the start, whatever it was doing.
  void restart();

  // Leaves `from`, which must be the running fiber. `for_good`: it will be restarted before it is run again.
  static void switch_to(Fiber& from, Fiber& to, bool for_good);

 private:
  friend void fiber_started();
  void (*entry_)() = nullptr;
  char* mapping_ = nullptr;
  char* stack_ = nullptr;  // lowest address
  size_t stack_bytes_ = 0;
#if defined(BN_SIMT_USE_UCONTEXT)
  ucontext_t context_;
#else
  void* stack_pointer_ = nullptr;
#endif
  void* sanitizer_stack_ = nullptr;
};

}  // namespace bn_simt
