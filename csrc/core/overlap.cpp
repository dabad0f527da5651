#include "core/overlap.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace bn {
namespace {

struct Dim {
  int64_t extent;
  int64_t stride;  // not negative: mirroring a dimension changes nothing
};

// Two different elements have the same address if, and only if, there are d[i] with |d[i]| < extent[i], not all
// zero, for which sum(d[i] * stride[i]) is 0. Searches for them from the largest stride down.
class Search {
 public:
  explicit Search(std::vector<Dim> dims) : dims_(std::move(dims)) {
    reach_.resize(dims_.size() + 1, 0);
    divisor_.resize(dims_.size() + 1, 0);
    for (size_t i = dims_.size(); i-- > 0;) {
      reach_[i] = reach_[i + 1] + (dims_[i].extent - 1) * dims_[i].stride;
      divisor_[i] = std::gcd(divisor_[i + 1], dims_[i].stride);
    }
  }

  // Can dimensions from `i` on bring `sum` to 0? `moved`: some d before them is not 0.
  bool solvable(size_t i, int64_t sum, bool moved) {
    if (++steps_ > kMaxSteps) return true;
    if (i == dims_.size()) return moved && sum == 0;
    if (sum > reach_[i] || sum < -reach_[i] || (divisor_[i] != 0 && sum % divisor_[i] != 0)) return false;
    const Dim& dim = dims_[i];
    if (dim.stride == 0)
      return true;  // and all strides after it: any d will do, but for extents of 1, long gone
    // The later dimensions can make up for at most reach_[i + 1].
    const int64_t low = std::max(ceil_div(-reach_[i + 1] - sum, dim.stride), moved ? 1 - dim.extent : 0);
    const int64_t high = std::min(floor_div(reach_[i + 1] - sum, dim.stride), dim.extent - 1);
    for (int64_t d = low; d <= high; ++d) {
      if (solvable(i + 1, sum + d * dim.stride, moved || d != 0)) return true;
    }
    return false;
  }

 private:
  static constexpr int kMaxSteps = 100000;

  static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
  static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

  std::vector<Dim> dims_;
  std::vector<int64_t> reach_;    // largest sum that dimensions from i on can make
  std::vector<int64_t> divisor_;  // and the divisor of all of them
  int steps_ = 0;
};

}  // namespace

bool addresses_twice(int rank, const int64_t* extents, const int64_t* strides) {
  constexpr int kFew = 16;
  if (rank <= 0) return false;
  for (int i = 0; i < rank; ++i) {
    if (extents[i] == 0) return false;
  }
  // Ordinary views: each stride, in order of size, steps over everything that the smaller ones reach.
  Dim few[kFew];
  int count = 0;
  for (int i = 0; i < rank && count < kFew; ++i) {
    if (extents[i] != 1) few[count++] = {extents[i], strides[i] < 0 ? -strides[i] : strides[i]};
  }
  if (count == kFew) return true;  // at least 2^16 elements in 16 dimensions: beyond every operator
  std::sort(few, few + count, [](const Dim& a, const Dim& b) { return a.stride > b.stride; });
  int64_t reach = 0;
  bool apart = true;
  for (int i = count; i-- > 0;) {
    apart = apart && few[i].stride > reach;
    reach += (few[i].extent - 1) * few[i].stride;
  }
  if (apart) return false;
  return Search(std::vector<Dim>(few, few + count)).solvable(0, 0, false);
}

}  // namespace bn
