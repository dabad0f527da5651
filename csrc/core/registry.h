// Live objects by handle.
//
// A handle is a number: kind, generation and slot. Nothing is ever read through it; it is looked up here, and
// a freed handle is recognised as dead even after its slot has been used again, because the slot's generation
// has moved on. Lookups take one uncontended spin lock on the slot and hand out a reference, so an object
// that another thread destroys meanwhile stays whole until the reader is done with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace bn {

enum class Kind : uint8_t {
  kTensor = 0xA1,
  kScalar = 0xA2,
  kBoolArray = 0xA3,
  kExecutor = 0xA4,
  kStream = 0xA5,
  kEvent = 0xA6,
  kContext = 0xA7,
  kList = 0xA8,
};

enum class HandleState {
  kLive,
  kDead,     // was one of ours, and has been destroyed
  kForeign,  // never was
};

template <class T, Kind kKind>
class Registry {
 public:
  // Throws std::bad_alloc when there is no room for another object.
  uint64_t insert(std::shared_ptr<T> object) {
    std::lock_guard<std::mutex> lock(mutex_);
    uint32_t index;
    if (free_head_ != kNone) {
      index = free_head_;
      free_head_ = slot(index).next_free;
    } else {
      index = used_;
      if (index >= kChunks * kChunkSlots) throw std::bad_alloc();
      if (index % kChunkSlots == 0) {
        chunks_[index / kChunkSlots].store(new Slot[kChunkSlots], std::memory_order_release);
      }
      used_ = index + 1;
    }
    Slot& s = slot(index);
    SpinLock guard(s);
    s.object = std::move(object);
    s.live = true;
    return encode(index, s.generation);
  }

  // The live object, or null.
  std::shared_ptr<T> find(uint64_t handle) const {
    Slot* s = slot_of(handle);
    if (s == nullptr) return nullptr;
    SpinLock guard(*s);
    return s->matches(handle) ? s->object : nullptr;
  }

  // Removes the object and returns it; null if the handle is not alive. Never allocates.
  std::shared_ptr<T> take(uint64_t handle) {
    Slot* s = slot_of(handle);
    if (s == nullptr) return nullptr;
    std::shared_ptr<T> object;
    {
      SpinLock guard(*s);
      if (!s->matches(handle)) return nullptr;
      object = s->retire();
    }
    recycle(handle & kSlotMask);
    return object;
  }

  // Puts another object behind a live handle; false if it is not alive.
  bool replace(uint64_t handle, std::shared_ptr<T> object) {
    Slot* s = slot_of(handle);
    if (s == nullptr) return false;
    SpinLock guard(*s);
    if (!s->matches(handle)) return false;
    s->object.swap(object);
    return true;
  }

  HandleState state(uint64_t handle) const {
    Slot* s = slot_of(handle);
    if (s == nullptr) return HandleState::kForeign;
    SpinLock guard(*s);
    if (s->matches(handle)) return HandleState::kLive;
    const uint32_t generation = static_cast<uint32_t>(handle >> kSlotBits);
    return generation < s->generation ? HandleState::kDead : HandleState::kForeign;
  }

  // Calls visit(shared_ptr<T>) for every live object.
  template <class Visit>
  void for_each(Visit visit) const {
    uint32_t used;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      used = used_;
    }
    for (uint32_t index = 0; index < used; ++index) {
      std::shared_ptr<T> object;
      {
        const Slot& s = slot(index);
        SpinLock guard(s);
        if (s.live) object = s.object;  // a forked child keeps its parent's dead ones
      }
      if (object) visit(object);
    }
  }

  // Destroys every live object; their handles are dead.
  void clear() {
    uint32_t used;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      used = used_;
    }
    for (uint32_t index = 0; index < used; ++index) {
      std::shared_ptr<T> object;
      {
        Slot& s = slot(index);
        SpinLock guard(s);
        if (!s.live) continue;
        object = s.retire();
      }
      recycle(index);
    }
  }

  // fork(): the mutex is held across it, so that the child finds the free list whole.
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }

  // In the child the parent's handles are dead. Their objects belong to threads that do not exist here, so
  // they are left where they are, untouched and reachable, and their slots are never used again.
  void after_fork_in_child() {
    for (uint32_t index = 0; index < used_; ++index) {
      Slot& s = slot(index);
      s.lock.clear(std::memory_order_release);  // its holder is not in this process
      if (!s.live) continue;
      s.live = false;
      ++s.generation;
    }
    mutex_.unlock();
  }

 private:
  static constexpr int kSlotBits = 24;
  static constexpr uint64_t kSlotMask = (uint64_t{1} << kSlotBits) - 1;
  static constexpr uint32_t kChunkSlots = 4096;
  static constexpr uint32_t kChunks = (1u << kSlotBits) / kChunkSlots;
  static constexpr uint32_t kNone = ~0u;
  static constexpr uint32_t kLastGeneration = ~0u;

  struct Slot {
    mutable std::atomic_flag lock = ATOMIC_FLAG_INIT;
    bool live = false;
    uint32_t generation = 1;
    uint32_t next_free = kNone;
    std::shared_ptr<T> object;

    bool matches(uint64_t handle) const {
      return live && generation == static_cast<uint32_t>(handle >> kSlotBits);
    }
    std::shared_ptr<T> retire() {
      live = false;
      ++generation;
      return std::move(object);
    }
  };

  class SpinLock {
   public:
    explicit SpinLock(const Slot& slot) : slot_(slot) {
      while (slot_.lock.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~SpinLock() { slot_.lock.clear(std::memory_order_release); }
    SpinLock(const SpinLock&) = delete;
    SpinLock& operator=(const SpinLock&) = delete;

   private:
    const Slot& slot_;
  };

  static uint64_t encode(uint32_t index, uint32_t generation) {
    return static_cast<uint64_t>(kKind) << 56 | static_cast<uint64_t>(generation) << kSlotBits | index;
  }

  Slot& slot(uint32_t index) const {
    return chunks_[index / kChunkSlots].load(std::memory_order_acquire)[index % kChunkSlots];
  }

  Slot* slot_of(uint64_t handle) const {
    if (handle >> 56 != static_cast<uint64_t>(kKind)) return nullptr;
    const uint32_t index = static_cast<uint32_t>(handle & kSlotMask);
    Slot* chunk = chunks_[index / kChunkSlots].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &chunk[index % kChunkSlots];
  }

  void recycle(uint64_t index) {
    std::lock_guard<std::mutex> lock(mutex_);
    Slot& s = slot(static_cast<uint32_t>(index));
    if (s.generation == kLastGeneration) return;  // one more use would bring old handles back to life
    s.next_free = free_head_;
    free_head_ = static_cast<uint32_t>(index);
  }

  mutable std::mutex mutex_;  // guards the free list and used_
  uint32_t free_head_ = kNone;
  uint32_t used_ = 0;
  std::atomic<Slot*> chunks_[kChunks] = {};
};

// Handles travel through the C API as opaque pointers.
template <class Handle>
uint64_t handle_bits(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}
template <class Handle>
Handle to_handle(uint64_t bits) {
  return reinterpret_cast<Handle>(bits);
}

}  // namespace bn
