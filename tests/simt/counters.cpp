#include "counters.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>

namespace bn_simt {
namespace {

constexpr uintptr_t kSectorBytes = 32;

bool same(const dim3& a, const dim3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

// A deque: entries keep their addresses.
std::deque<KernelCounts>& entries() {
  static std::deque<KernelCounts>& instance = *new std::deque<KernelCounts>;
  return instance;
}

void write_traffic(std::ostream& out, const char* name, const KernelCounts::Traffic& traffic) {
  out << ", \"" << name << "\": {\"accesses\": " << traffic.accesses
      << ", \"useful_bytes\": " << traffic.useful_bytes << ", \"moved_bytes\": " << traffic.moved_bytes
      << "}";
}

void write_dim(std::ostream& out, const char* name, const dim3& dim) {
  out << ", \"" << name << "\": [" << dim.x << ", " << dim.y << ", " << dim.z << "]";
}

// Writes the report where BNAPI_SIMT_REPORT says, when the process ends.
struct ReportAtExit {
  ~ReportAtExit() {
    const char* path = getenv("BNAPI_SIMT_REPORT");
    if (path != nullptr && *path != '\0') std::ofstream(path) << report_json() << "\n";
  }
} g_report_at_exit;

}  // namespace

void WarpLog::note(uintptr_t site, int lane, uintptr_t address, unsigned size, bool is_store) {
  const auto is_place = [&](const Place& place) {
    return place.site == site && place.size == size && place.is_store == is_store;
  };
  if (last_ >= places_.size() || !is_place(places_[last_])) {
    last_ = std::find_if(places_.begin(), places_.end(), is_place) - places_.begin();
    if (last_ == places_.size()) places_.push_back(Place{site, size, is_store, {}, {}});
  }
  Place& place = places_[last_];
  const uint32_t time = place.times[lane]++;
  if (time >= place.accesses.size()) place.accesses.resize(time + 1);
  Access& access = place.accesses[time];
  access.addresses[access.lanes++] = address;
}

void WarpLog::flush(KernelCounts* counts) {
  for (Place& place : places_) {
    KernelCounts::Traffic& traffic = place.is_store ? counts->store : counts->load;
    for (Access& access : place.accesses) {
      uintptr_t* const end = access.addresses + access.lanes;
      std::sort(access.addresses, end);
      // Accesses are aligned to their size, so two of one place are the same or do not overlap, and each lies in
      // one sector.
      const auto distinct = std::unique(access.addresses, end) - access.addresses;
      uint64_t sectors = 0;
      for (ptrdiff_t i = 0; i < distinct; ++i) {
        if (i == 0 || access.addresses[i] / kSectorBytes != access.addresses[i - 1] / kSectorBytes) ++sectors;
      }
      traffic.accesses += 1;
      traffic.useful_bytes += static_cast<uint64_t>(distinct) * place.size;
      traffic.moved_bytes += sectors * kSectorBytes;
    }
    place.accesses.clear();
    std::fill(std::begin(place.times), std::end(place.times), 0u);
  }
}

KernelCounts* counts_of(const char* name, dim3 grid, dim3 block, size_t shared_bytes) {
  for (KernelCounts& entry : entries()) {
    if (entry.name == name && same(entry.grid, grid) && same(entry.block, block) &&
        entry.shared_bytes == shared_bytes)
      return &entry;
  }
  entries().emplace_back();
  KernelCounts& entry = entries().back();
  entry.name = name;
  entry.grid = grid;
  entry.block = block;
  entry.shared_bytes = shared_bytes;
  return &entry;
}

std::string report_json() {
  std::ostringstream out;
  out << "[";
  const char* separator = "\n";
  for (const KernelCounts& entry : entries()) {
    out << separator << "  {\"kernel\": \"" << entry.name << "\"";
    write_dim(out, "grid", entry.grid);
    write_dim(out, "block", entry.block);
    out << ", \"shared_bytes\": " << entry.shared_bytes << ", \"launches\": " << entry.launches
        << ", \"blocks\": " << entry.blocks << ", \"blocks_run\": " << entry.blocks_run
        << ", \"block_barriers\": " << entry.block_barriers
        << ", \"warp_operations\": " << entry.warp_operations;
    write_traffic(out, "load", entry.load);
    write_traffic(out, "store", entry.store);
    out << "}";
    separator = ",\n";
  }
  out << "\n]";
  return out.str();
}

void reset_report() {
  entries().clear();
}

}  // namespace bn_simt
