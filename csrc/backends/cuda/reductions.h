// The three reductions, as the reduce kernels see them: which tensors they read, and what a thread holds of one
// channel. The formulas are those of csrc/math.
#pragma once

#include "backends/cuda/vector.h"
#include "math/dy_dot_xmu.h"
#include "math/finalize.h"
#include "math/moments.h"
#include "math/sums.h"

namespace bn::cuda {

// What a vector position of all tensors of a reduction looks like, loaded. Reductions of x alone leave dy out.
template <class T, int kWidth>
struct Loaded {
  Vector<T, kWidth> x, dy, extra;
};

template <class T>
class MomentsChannel {
 public:
  using Part = Moments;
  static constexpr bool kUsesDy = false;
  static constexpr bool kUsesMean = false;

  // `first`: nothing was added before.
  template <int kWidth>
  __device__ void add(const Program& p, const Loaded<T, kWidth>& loaded, int i, bool first) {
    const double x = loaded.x.template get<double>(p.x, i);
    if (first) shift_ = tile_shift(x);
    bn::add(sums_, x, shift_);
  }

  __device__ Part part(int64_t count) const {
    return moments_of_tile(static_cast<double>(count), shift_, total(sums_.deviation), total(sums_.square));
  }

 private:
  ShiftedSums<typename Arithmetic<T>::Sum> sums_;
  double shift_ = 0;
};

template <class T>
class SumsChannel {
 public:
  using Part = RawSums<double>;
  static constexpr bool kUsesDy = false;
  static constexpr bool kUsesMean = false;

  template <int kWidth>
  __device__ void add(const Program& p, const Loaded<T, kWidth>& loaded, int i, bool) {
    bn::add(sums_, loaded.x.template get<double>(p.x, i));
  }

  __device__ Part part(int64_t) const { return {total(sums_.value), total(sums_.square)}; }

 private:
  RawSums<typename Arithmetic<T>::Sum> sums_;
};

template <class T>
class DyDotXmuChannel {
 public:
  using Part = DyDotXmu<double>;
  static constexpr bool kUsesDy = true;
  static constexpr bool kUsesMean = true;

  // Before anything is added.
  __device__ void set_mean(double mean) { mean_ = mean; }

  template <int kWidth>
  __device__ void add(const Program& p, const Loaded<T, kWidth>& loaded, int i, bool) {
    double dy = loaded.dy.template get<double>(p.dy, i);
    if (p.relu && present(p.extra) && !(loaded.extra.template get<double>(p.extra, i) > 0.0)) dy = 0.0;
    bn::add(sums_, dy, loaded.x.template get<double>(p.x, i), mean_);
  }

  __device__ Part part(int64_t) const { return {total(sums_.dy), total(sums_.dy_xmu)}; }

 private:
  DyDotXmu<typename Arithmetic<T>::Sum> sums_;
  double mean_ = 0;
};

// A channel's part as the finalize stage takes it.
__device__ inline Totals totals_of(const Moments& part) {
  Totals totals;
  totals.moments = part;
  return totals;
}
__device__ inline Totals totals_of(const RawSums<double>& part) {
  Totals totals;
  totals.sums = part;
  return totals;
}
__device__ inline Totals totals_of(const DyDotXmu<double>& part) {
  Totals totals;
  totals.dy_dot_xmu = part;
  return totals;
}

// Folds the parts of a group of `lanes` threads (1, a power of two up to a warp, or the whole block) in a fixed
// order; the group's first thread gets the result. `shared` has room for one part per warp.
template <class Part>
__device__ inline Part fold_group(Part part, int lanes, Part* shared) {
  for (int delta = (lanes < kWarp ? lanes : kWarp) / 2; delta > 0; delta /= 2)
    part = merge(part, shuffle_down(part, delta));
  if (lanes <= kWarp) return part;
  const int lane = threadIdx.x % kWarp;
  const int warps = kBlock / kWarp;
  if (lane == 0) shared[threadIdx.x / kWarp] = part;
  __syncthreads();
  if (threadIdx.x < kWarp) {
    part = lane < warps ? shared[lane] : Part{};
    for (int delta = warps / 2; delta > 0; delta /= 2)
      part = merge(part, shuffle_down(part, delta));
  }
  return part;
}

}  // namespace bn::cuda
