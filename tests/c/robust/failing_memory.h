// Makes the N-th allocation of the program fail, and counts what is alive: include in one source file of a test
// program. It replaces all forms of operator new, and stands before the C library's aligned_alloc and
// pthread_create; the library under test needs no hook for it.
#pragma once

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace failing_memory {

inline std::atomic<int64_t> countdown{0};  // the allocation that makes it 0 fails; 0: none does
inline std::atomic<int64_t> live{0};       // allocations of operator new that are alive
inline std::atomic<bool> no_threads{false};

inline bool fails_now() {
  int64_t left = countdown.load();
  while (left > 0) {
    if (countdown.compare_exchange_weak(left, left - 1)) return left == 1;
  }
  return false;
}

// Allocations fail while one of these is alive, from the N-th on the calling side: exactly one fails.
class Armed {
 public:
  explicit Armed(int64_t n) { countdown = n; }
  ~Armed() { countdown = 0; }
  Armed(const Armed&) = delete;
  Armed& operator=(const Armed&) = delete;
  // Did it happen?
  static bool spent() { return countdown == 0; }
};

inline void* allocate(std::size_t size, std::size_t alignment) {
  if (fails_now()) return nullptr;
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    memory = malloc(size == 0 ? 1 : size);
  } else if (posix_memalign(&memory, alignment, size) != 0) {
    memory = nullptr;
  }
  if (memory != nullptr) ++live;
  return memory;
}

inline void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

inline void release(void* memory) {
  if (memory == nullptr) return;
  --live;
  free(memory);
}

}  // namespace failing_memory

void* operator new(std::size_t size) {
  return failing_memory::allocate_or_throw(size, 1);
}
void* operator new[](std::size_t size) {
  return failing_memory::allocate_or_throw(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return failing_memory::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return failing_memory::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return failing_memory::allocate(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return failing_memory::allocate(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return failing_memory::allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return failing_memory::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  failing_memory::release(memory);
}
void operator delete[](void* memory) noexcept {
  failing_memory::release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  failing_memory::release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  failing_memory::release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  failing_memory::release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  failing_memory::release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  failing_memory::release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  failing_memory::release(memory);
}

extern "C" {

__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (failing_memory::fails_now()) {
    errno = ENOMEM;
    return nullptr;
  }
  using Function = void* (*)(std::size_t, std::size_t);
  static const Function next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "aligned_alloc"));
  return next(alignment, size);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                          void* (*start)(void*), void* argument) {
  if (failing_memory::no_threads) return EAGAIN;
  using Function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Function next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, start, argument);
}

}  // extern "C"
