#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace bn_simt {
namespace {

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
constexpr size_t kStackBytes = 256 << 10;
#else
constexpr size_t kStackBytes = 96 << 10;
#endif
constexpr size_t kPage = 4096;

// The fiber that is being switched to, for its first steps on its own stack.
__thread Fiber* t_entering = nullptr;
#if defined(__SANITIZE_ADDRESS__)
__thread Fiber* t_leaving = nullptr;
#endif

}  // namespace

#if !defined(BN_SIMT_USE_UCONTEXT)
// Saves what a called function must preserve, changes stacks, restores. The floating-point control words are the
// same in all fibers.
extern "C" void bn_simt_switch_stacks(void** save, void* load);
asm(R"(
.text
.type bn_simt_switch_stacks, @function
.hidden bn_simt_switch_stacks
.globl bn_simt_switch_stacks
bn_simt_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size bn_simt_switch_stacks, .-bn_simt_switch_stacks
)");
#endif

// The first function on every fiber's stack.
void fiber_started() {
  Fiber* self = t_entering;
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
  if (t_leaving->stack_ == nullptr) {  // the host thread's own stack: now it is known
    t_leaving->stack_ = const_cast<char*>(static_cast<const char*>(bottom));
    t_leaving->stack_bytes_ = size;
  }
#endif
  self->entry_();
  abort();
}

Fiber::Fiber(size_t number, void (*entry)()) : entry_(entry) {
  // A page without access below every stack. Stacks start at different offsets in a page and in the larger caches'
  // sets; if not, the hot part of a thousand stacks would share a few cache lines.
  const size_t bytes = kStackBytes + 3 * kPage;
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kPage, PROT_NONE) != 0) {
    fputs("bn_simt: no memory for a fiber's stack\n", stderr);
    abort();
  }
  mapping_ = static_cast<char*>(memory);
  stack_ = mapping_ + kPage;
  stack_bytes_ = kStackBytes + number * 320 % (2 * kPage) / 64 * 64;
  restart();
}

Fiber::~Fiber() {
  if (mapping_ != nullptr) munmap(mapping_, kStackBytes + 3 * kPage);
}

void Fiber::restart() {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack_, stack_bytes_);
#endif
#if defined(BN_SIMT_USE_UCONTEXT)
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_;
  context_.uc_stack.ss_size = stack_bytes_;
  context_.uc_link = nullptr;
  makecontext(&context_, fiber_started, 0);
#else
  // As if fiber_started had been called: the stack pointer is 8 off a multiple of 16 at its first instruction.
  void** top = reinterpret_cast<void**>(stack_ + stack_bytes_);
  *--top = nullptr;  // keeps the alignment, and ends backtraces
  *--top = reinterpret_cast<void*>(&fiber_started);
  for (int i = 0; i < 6; ++i)
    *--top = nullptr;
  stack_pointer_ = top;
#endif
}

void Fiber::switch_to(Fiber& from, Fiber& to, [[maybe_unused]] bool for_good) {
  t_entering = &to;
#if defined(__SANITIZE_ADDRESS__)
  t_leaving = &from;
  __sanitizer_start_switch_fiber(for_good ? nullptr : &from.sanitizer_stack_, to.stack_, to.stack_bytes_);
#endif
#if defined(BN_SIMT_USE_UCONTEXT)
  swapcontext(&from.context_, &to.context_);
#else
  bn_simt_switch_stacks(&from.stack_pointer_, to.stack_pointer_);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.sanitizer_stack_, nullptr, nullptr);
#endif
}

}  // namespace bn_simt
