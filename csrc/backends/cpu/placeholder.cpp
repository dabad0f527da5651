// Scalar stand-in for the kernels, for the days before they land.
#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#include <cmath>
#include "backends/cpu/plan.h"
#include "math/finalize.h"
#include "math/quantize.h"
namespace bn::cpu {
namespace {
class P : public Plan { public: std::string describe() const override { return "placeholder"; } };
int64_t at(const DataArg& a, const Program& p, int64_t c, int64_t i) {
  int64_t index = c * a.channel_stride;
  for (int d = p.loop_dims - 1; d >= 0; --d) { index += i % p.extents[d] * a.strides[d]; i /= p.extents[d]; }
  return index;
}
double get(const DataArg& a, const Program& p, int64_t c, int64_t i) {
  return load_as_double(static_cast<const char*>(a.data) + at(a, p, c, i) * dtype_size(a.dtype), a.dtype);
}
void put(const DataArg& a, const Program& p, int64_t c, int64_t i, double v) {
  store_from_double(static_cast<char*>(a.data) + at(a, p, c, i) * dtype_size(a.dtype), a.dtype, v);
}
}  // namespace
std::shared_ptr<const Plan> make_plan(const Program& p) {
  auto plan = std::make_shared<P>();
  plan->stages = 1; plan->tasks[0] = 1; plan->work_bytes = p.channels * p.count * 8;
  return plan;
}
void run_task(const Program& p, const Plan&, void*, int, int64_t) noexcept {
  for (int f = 0; f < p.fill_count; ++f) {
    const TensorArg& t = p.fills[f].tensor; int64_t n = 1;
    for (int d = 0; d < t.rank; ++d) n *= t.extents[d];
    for (int64_t i = 0; i < n; ++i) { int64_t r = i, index = 0; for (int d = t.rank - 1; d >= 0; --d) { index += r % t.extents[d] * t.strides[d]; r /= t.extents[d]; }
      store_from_double(static_cast<char*>(t.data) + index * dtype_size(t.dtype), t.dtype, p.fills[f].value); }
  }
  if (p.fill_count) return;
  const double n = present(p.counts) && p.finalize == Finalize::kElemtBackward ? counter_total(p.counts) : 0;
  for (int64_t c = 0; c < p.channels; ++c) {
    Totals t;
    auto dyv = [&](int64_t i) { double v = get(p.dy, p, c, i); return p.relu && present(p.extra) && !(get(p.extra, p, c, i) > 0) ? 0.0 : v; };
    if (p.reduce == Reduce::kMoments && p.count) {
      double s = tile_shift(get(p.x, p, c, 0)); ShiftedSums<CompensatedSum<double>> q;
      for (int64_t i = 0; i < p.count; ++i) add(q, get(p.x, p, c, i), s);
      t.moments = moments_of_tile(double(p.count), s, total(q.deviation), total(q.square));
    } else if (p.reduce == Reduce::kSums) {
      RawSums<CompensatedSum<double>> q; for (int64_t i = 0; i < p.count; ++i) add(q, get(p.x, p, c, i));
      t.sums = {total(q.value), total(q.square)};
    } else if (p.reduce == Reduce::kDyDotXmu) {
      double m = reduction_mean(p, c); DyDotXmu<CompensatedSum<double>> q;
      for (int64_t i = 0; i < p.count; ++i) add(q, dyv(i), get(p.x, p, c, i), m);
      t.dy_dot_xmu = {total(q.dy), total(q.dy_xmu)};
    }
    const ChannelCoefficients k = finalize(p, c, t, n); const auto f = coefficients_f64(k);
    for (int64_t i = 0; i < p.count && p.map != Map::kNone; ++i) switch (p.map) {
      case Map::kNormalize: { double y = normalize(get(p.x, p, c, i), f); if (present(p.extra)) y += get(p.extra, p, c, i); if (p.relu && y < 0) y = 0; put(p.out, p, c, i, y); break; }
      case Map::kBackward: case Map::kScale: { double dy = dyv(i); double dx = p.map == Map::kScale ? dy * k.scale : backward(dy, get(p.x, p, c, i), f);
        if (present(p.grad_residual)) put(p.grad_residual, p, c, i, dy); if (present(p.out)) put(p.out, p, c, i, dx); break; }
      case Map::kQuantize: store_quantized(static_cast<char*>(p.out.data) + at(p.out, p, c, i) * dtype_size(p.out.dtype), p.out.dtype,
          dequantize_normalize_requantize(get(p.x, p, c, i), k, {p.input_scale, double(p.input_zero_point), p.output_scale, double(p.output_zero_point)})); break;
      default: break;
    }
  }
}
const char* isa_in_use() { return "baseline"; }
const char* isas_built() { return "baseline"; }
}  // namespace bn::cpu
