#include "memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>

namespace bn_simt {
namespace {

constexpr size_t kAlignment = 256;  // what cudaMalloc promises
// Filling more than this with poison costs more than it finds.
constexpr size_t kLargestPoisoned = size_t{1} << 30;

struct sigaction g_segv_before;

// Says what happened before the process ends as it would have: a bare "Segmentation fault" is hard to place.
void on_segv(int, siginfo_t* info, void*) {
  if (in_device_arena(info->si_addr)) {
    static const char kText[] =
        "bn_simt: device memory was read or written directly: by the host, or by a kernel without load/store "
        "wrappers\n";
    const ssize_t written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
    static_cast<void>(written);
  }
  sigaction(SIGSEGV, &g_segv_before, nullptr);  // the access is repeated, and ends as it would have
}

// Addresses of device memory. They are handed out in a circle, so that a freed one is not soon used again.
class Arena {
 public:
  Arena() {
    for (size_ = size_t{1} << 40; size_ >= size_t{1} << 32; size_ /= 2) {
      void* memory = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) continue;
      begin_ = next_ = reinterpret_cast<uintptr_t>(memory);
      break;
    }
    struct sigaction action = {};
    action.sa_sigaction = on_segv;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &g_segv_before);
  }
  bool contains(uintptr_t address) const { return address >= begin_ && address - begin_ < size_; }
  // An address with room for `size` bytes that no range overlaps; 0 if there is none.
  uintptr_t take(const std::map<uintptr_t, Range>& ranges, size_t size) {
    if (begin_ == 0 || size > size_ / 2) return 0;
    // Every allocation starts on an odd multiple of 256, and has unused bytes before and after it.
    const size_t step = (size + 2 * kAlignment) / (2 * kAlignment) * (2 * kAlignment) + 2 * kAlignment;
    for (int turn = 0; turn < 2; ++turn) {
      while (next_ + step <= begin_ + size_) {
        const auto after = ranges.lower_bound(next_);
        if (after == ranges.end() || after->first >= next_ + step) {
          const uintptr_t address = next_ + kAlignment;
          next_ += step;
          return address;
        }
        next_ = (after->second.end + 4 * kAlignment) / (2 * kAlignment) * (2 * kAlignment);
      }
      next_ = begin_;
    }
    return 0;
  }

 private:
  uintptr_t begin_ = 0;
  uintptr_t next_ = 0;
  size_t size_ = 0;
};

Arena& arena() {
  static Arena& instance = *new Arena;
  return instance;
}

// By first address. Never destroyed: objects of the host may free memory at exit.
std::map<uintptr_t, Range>& ranges() {
  static std::map<uintptr_t, Range>& instance = *new std::map<uintptr_t, Range>;
  return instance;
}

std::map<uintptr_t, Range>::iterator find(uintptr_t address) {
  auto after = ranges().upper_bound(address);
  if (after == ranges().begin()) return ranges().end();
  const auto found = std::prev(after);
  return address < found->second.end ? found : ranges().end();
}

}  // namespace

void* allocate(Space space, int device, size_t size_bytes) {
  if (space == Space::kDevice && size_bytes > kDeviceBytes - device_bytes_in_use(device)) return nullptr;
  void* bytes = nullptr;
  if (posix_memalign(&bytes, kAlignment, size_bytes) != 0) return nullptr;
  if (size_bytes <= kLargestPoisoned) memset(bytes, kPoison, size_bytes);
  Range range;
  range.begin = reinterpret_cast<uintptr_t>(bytes);
  range.space = space;
  range.device = device;
  if (space == Space::kDevice) {
    range.begin = arena().take(ranges(), size_bytes);
    if (range.begin == 0) {
      free(bytes);
      return nullptr;
    }
    range.to_bytes = static_cast<intptr_t>(reinterpret_cast<uintptr_t>(bytes) - range.begin);
  }
  range.end = range.begin + size_bytes;
  ranges()[range.begin] = range;
  return reinterpret_cast<void*>(range.begin);
}

bool release(Space space, void* memory) {
  const auto found = ranges().find(reinterpret_cast<uintptr_t>(memory));
  if (found == ranges().end() || found->second.space != space || found->second.registered) return false;
  free(reinterpret_cast<void*>(found->first + found->second.to_bytes));
  ranges().erase(found);
  return true;
}

bool register_host(void* memory, size_t size_bytes, int device) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  const auto after = ranges().lower_bound(begin);
  if (find(begin) != ranges().end() || (after != ranges().end() && after->first < begin + size_bytes))
    return false;
  ranges()[begin] = Range{begin, begin + size_bytes, 0, Space::kHost, device, true};
  return true;
}

bool unregister_host(void* memory) {
  const auto found = ranges().find(reinterpret_cast<uintptr_t>(memory));
  if (found == ranges().end() || !found->second.registered) return false;
  ranges().erase(found);
  return true;
}

Range find_range(const void* address) {
  const auto found = find(reinterpret_cast<uintptr_t>(address));
  return found == ranges().end() ? Range() : found->second;
}

bool in_device_arena(const void* address) {
  return arena().contains(reinterpret_cast<uintptr_t>(address));
}

size_t device_bytes_in_use(int device) {
  size_t sum = 0;
  for (const auto& entry : ranges()) {
    if (entry.second.space == Space::kDevice && entry.second.device == device)
      sum += entry.second.end - entry.second.begin;
  }
  return sum;
}

}  // namespace bn_simt
