// The CPU kernels against long double arithmetic, within derived bounds, and against each other, bit for bit: every
// instruction set, and tasks in any order.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "case.h"

namespace bn::test {
namespace {

constexpr double kU64 = 0x1p-53;
constexpr double kU32 = 0x1p-24;
constexpr double kRoundings = 512;  // the published constant of the reductions

struct Shape {
  std::vector<int64_t> extents;  // batch first
  int64_t channels;
  int64_t count() const {
    int64_t n = 1;
    for (int64_t extent : extents)
      n *= extent;
    return n;
  }
};

struct Setting {
  Shape shape;
  Layout layout, second_layout;  // of x and out; of dy and what else there is
  DType dtype, second_dtype;
  double mean;  // of x, where its standard deviation is 1

  std::string text() const {
    std::string s = "channels " + std::to_string(shape.channels) + ", extents";
    for (int64_t extent : shape.extents)
      s += " " + std::to_string(extent);
    return s + ", layouts " + std::to_string(static_cast<int>(layout)) + " " +
           std::to_string(static_cast<int>(second_layout)) + ", types " +
           std::to_string(static_cast<int>(dtype)) + " " + std::to_string(static_cast<int>(second_dtype)) +
           ", mean " + std::to_string(mean);
  }
};

double worst_used = 0;
int checks = 0;

void expect(bool holds, const Setting& setting, const Program& program, const char* what, int64_t where,
            double got, double want, double bound) {
  ++checks;
  if (holds) return;
  printf("%s[%lld] is %.17g, want %.17g, off by %.3g, allowed %.3g\n  %s\n  path: %s\n", what,
         static_cast<long long>(where), got, want, std::fabs(got - want), bound, setting.text().c_str(),
         path_of(program).c_str());
  exit(1);
}

void expect_near(double got, long double want, double bound, DType dtype, const Setting& setting,
                 const Program& program, const char* what, int64_t where) {
  const double whole_bound = bound + 0.5 * ulp(static_cast<double>(want), dtype) * (1 + 0x1p-20);
  const double off = std::fabs(static_cast<double>(got - want));
  expect(off <= whole_bound, setting, program, what, where, got, static_cast<double>(want), whole_bound);
  if (whole_bound > 0) worst_used = std::fmax(worst_used, off / whole_bound);
}

std::vector<double> normal_values(int64_t count, double mean, std::mt19937& random) {
  std::normal_distribution<double> distribution(mean, 1.0);
  std::vector<double> values(count);
  for (double& value : values)
    value = distribution(random);
  return values;
}

// Runs the program on every instruction set in several orders; outputs are read by `read` and must be the same bits.
// `reset` puts the inputs that a run overwrites back.
std::vector<double> run_all(const Program& program, const Setting& setting,
                            const std::function<void()>& reset,
                            const std::function<std::vector<double>()>& read) {
  std::vector<double> first;
  for (const IsaUnderTest& isa : isas()) {
    for (Order order : {Order::kForwards, Order::kBackwards, Order::kShuffled}) {
      if (order == Order::kBackwards && isa.run != cpu::baseline::run) continue;
      reset();
      run_program(program, isa.run, order);
      const std::vector<double> values = read();
      if (first.empty()) first = values;
      if (memcmp(first.data(), values.data(), values.size() * sizeof(double)) != 0) {
        for (size_t i = 0; i < values.size(); ++i)
          if (memcmp(&first[i], &values[i], sizeof(double)) != 0)
            expect(false, setting, program, isa.name, static_cast<int64_t>(i), values[i], first[i], 0);
      }
    }
  }
  return first;
}

Program program_of(const Setting& setting) {
  Program p;
  p.loop_dims = static_cast<int32_t>(setting.shape.extents.size());
  for (int d = 0; d < p.loop_dims; ++d)
    p.extents[d] = setting.shape.extents[d];
  p.channels = setting.shape.channels;
  p.count = setting.shape.count();
  p.eps = 1e-5;
  p.momentum = 0.25;
  return p;
}

// Everything that a program of the family can have; each test uses what it needs.
struct Bench {
  explicit Bench(const Setting& s) : setting(s), random(7) {
    const int64_t channels = s.shape.channels;
    const int64_t all = channels * s.shape.count();
    x = make_data(s.shape.extents, channels, s.layout, s.dtype, normal_values(all, s.mean, random));
    dy = make_data(s.shape.extents, channels, s.second_layout, s.second_dtype,
                   normal_values(all, 0.1, random));
    extra = make_data(s.shape.extents, channels, s.second_layout, s.second_dtype,
                      normal_values(all, 0.2, random));
    const Layout writable = s.layout == Layout::kBroadcast ? Layout::kContiguous : s.layout;
    out = make_data(s.shape.extents, channels, writable, s.dtype, {});
    grad_residual = make_data(s.shape.extents, channels, writable, s.second_dtype, {});
    mean = make_channel(DType::kFloat64, normal_values(channels, s.mean, random));
    invstd = make_channel(DType::kFloat32, normal_values(channels, 3, random));
    weight = make_channel(DType::kFloat16, normal_values(channels, 1, random));
    bias = make_channel(DType::kFloat32, normal_values(channels, 0, random));
    for (PerChannel* output : {&a, &b, &c, &d})
      *output = make_channel(s.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32,
                             std::vector<double>(channels, 0.0));
    program = program_of(s);
    program.x = x.arg;
  }

  double compute_u() const { return setting.dtype == DType::kFloat64 ? 8 * kU64 : kU32; }

  std::vector<double> run(const std::vector<const PerChannel*>& channel_outputs,
                          const std::vector<const Data*>& data_outputs) {
    return run_all(
        program, setting, [] {},
        [&] {
          std::vector<double> all;
          for (const PerChannel* output : channel_outputs) {
            const auto values = read_back(*output);
            all.insert(all.end(), values.begin(), values.end());
          }
          for (const Data* output : data_outputs) {
            const auto values = read_back(*output);
            all.insert(all.end(), values.begin(), values.end());
          }
          return all;
        });
  }

  const Setting& setting;
  std::mt19937 random;
  Data x, dy, extra, out, grad_residual;
  PerChannel mean, invstd, weight, bias, a, b, c, d;
  Program program;
};

struct Sums {
  long double dy = 0, dy_xmu = 0, dy_mass = 0, dy_xmu_mass = 0;
};

Sums sums_of(const Bench& t, int64_t channel, long double mean, bool masked) {
  const int64_t count = t.program.count;
  Sums sums;
  for (int64_t i = 0; i < count; ++i) {
    if (masked && !(t.extra.at(channel, i, count) > 0)) continue;
    const long double dy = t.dy.at(channel, i, count);
    const long double term = dy * (t.x.at(channel, i, count) - mean);
    sums.dy += dy;
    sums.dy_mass += fabsl(dy);
    sums.dy_xmu += term;
    sums.dy_xmu_mass += fabsl(term);
  }
  return sums;
}

void test_reduce_backward(const Setting& setting, bool masked) {
  Bench t(setting);
  Program& p = t.program;
  p.reduce = Reduce::kDyDotXmu;
  p.finalize = Finalize::kReduceBackward;
  p.dy = t.dy.arg;
  p.relu = masked;
  if (masked) p.extra = t.extra.arg;
  p.mean = t.mean.arg;
  p.invstd = t.invstd.arg;
  p.sum_dy = t.a.arg;
  p.sum_dy_xmu = t.b.arg;
  p.grad_weight = t.c.arg;
  p.grad_bias = t.d.arg;
  t.run({&t.a, &t.b, &t.c, &t.d}, {});
  const auto a = read_back(t.a), b = read_back(t.b), c = read_back(t.c), d = read_back(t.d);
  for (int64_t i = 0; i < p.channels; ++i) {
    const Sums sums = sums_of(t, i, t.mean.values[i], masked);
    const double r = t.invstd.values[i];
    const double mass = static_cast<double>(sums.dy_xmu_mass) * kRoundings * kU64;
    const double dy_mass = static_cast<double>(sums.dy_mass) * kRoundings * kU64;
    expect_near(a[i], sums.dy, dy_mass, t.a.dtype, setting, p, "sumDy", i);
    expect_near(b[i], sums.dy_xmu, mass, t.b.dtype, setting, p, "sumDyXmu", i);
    expect_near(c[i], sums.dy_xmu * r, mass * std::fabs(r), t.c.dtype, setting, p, "gradWeight", i);
    expect_near(d[i], sums.dy, dy_mass, t.d.dtype, setting, p, "gradBias", i);
  }
}

void test_sums(const Setting& setting) {
  Bench t(setting);
  Program& p = t.program;
  p.reduce = Reduce::kSums;
  p.finalize = Finalize::kSums;
  p.sum = t.a.arg;
  p.square_sum = t.b.arg;
  t.run({&t.a, &t.b}, {});
  const auto a = read_back(t.a), b = read_back(t.b);
  for (int64_t c = 0; c < p.channels; ++c) {
    long double sum = 0, mass = 0, square = 0;
    for (int64_t i = 0; i < p.count; ++i) {
      const long double x = t.x.at(c, i, p.count);
      sum += x;
      mass += fabsl(x);
      square += x * x;
    }
    expect_near(a[c], sum, static_cast<double>(mass) * kRoundings * kU64, t.a.dtype, setting, p, "sum", c);
    expect_near(b[c], square, static_cast<double>(square) * kRoundings * kU64, t.b.dtype, setting, p,
                "squareSum", c);
  }
}

struct Stats {
  long double mean = 0, variance = 0, mean_error = 0, invstd_error = 0, invstd = 0;
};

Stats stats_of(const Bench& t, int64_t channel) {
  const int64_t count = t.program.count;
  Stats s;
  long double mass = 0, farthest = 0;
  for (int64_t i = 0; i < count; ++i) {
    s.mean += t.x.at(channel, i, count);
    mass += fabsl(t.x.at(channel, i, count));
  }
  s.mean /= count;
  for (int64_t i = 0; i < count; ++i) {
    const long double off = t.x.at(channel, i, count) - s.mean;
    s.variance += off * off;
    farthest = fmaxl(farthest, fabsl(off));
  }
  s.variance /= count;
  s.invstd = 1 / sqrtl(s.variance + t.program.eps);
  s.mean_error = kRoundings * kU64 * (mass / count + farthest);
  // The shift of a tile may be its farthest element: squares are then as much larger as it is off.
  const long double variance_error =
      kRoundings * kU64 * (s.variance + farthest * farthest) + s.mean_error * s.mean_error;
  s.invstd_error = s.invstd * (0.5L * variance_error * s.invstd * s.invstd + 4 * kU64);
  return s;
}

void test_forward(const Setting& setting, bool relu, bool residual, bool in_place) {
  Bench t(setting);
  Program& p = t.program;
  p.reduce = Reduce::kMoments;
  p.finalize = Finalize::kTrain;
  p.map = Map::kNormalize;
  p.relu = relu;
  if (residual) p.extra = t.extra.arg;
  p.out = in_place ? t.x.arg : t.out.arg;
  p.weight = t.weight.arg;
  p.bias = t.bias.arg;
  p.mean_out = t.a.arg;
  p.invstd_out = t.b.arg;
  const auto x_memory = t.x.memory;
  run_all(
      p, setting, [&] { std::copy(x_memory.begin(), x_memory.end(), t.x.memory.begin()); },
      [&] {
        auto all = read_back(t.a);
        const auto second = read_back(t.b);
        all.insert(all.end(), second.begin(), second.end());
        const auto y = read_back(in_place ? t.x : t.out);
        all.insert(all.end(), y.begin(), y.end());
        return all;
      });
  const auto a = read_back(t.a), b = read_back(t.b), y = read_back(in_place ? t.x : t.out);
  const double u = t.compute_u();
  for (int64_t c = 0; c < p.channels; ++c) {
    const Stats s = stats_of(t, c);
    expect_near(a[c], s.mean, static_cast<double>(s.mean_error), t.a.dtype, setting, p, "saveMean", c);
    expect_near(b[c], s.invstd, static_cast<double>(s.invstd_error), t.b.dtype, setting, p, "saveInvstd", c);
    const long double scale = s.invstd * t.weight.values[c];
    for (int64_t i = 0; i < p.count; ++i) {
      const long double off = t.x.at(c, i, p.count) - s.mean;
      const long double normal = off * scale;
      const long double shift = t.bias.values[c];
      const long double added = residual ? t.extra.at(c, i, p.count) : 0;
      long double want = normal + shift + added;
      const double bound = static_cast<double>(
          fabsl(scale) * s.mean_error + fabsl(off * t.weight.values[c]) * s.invstd_error +
          u * (4 * fabsl(normal) + 2 * fabsl(shift) + 2 * fabsl(added) + 2 * fabsl(want)));
      if (relu && want < 0) want = 0;
      expect_near(y[c * p.count + i], want, bound, setting.dtype, setting, p, "y", c * p.count + i);
    }
  }
}

void test_backward(const Setting& setting, bool train, bool masked, bool residual) {
  Bench t(setting);
  Program& p = t.program;
  p.reduce = Reduce::kDyDotXmu;
  p.finalize = train ? Finalize::kBackwardTrain : Finalize::kBackwardInference;
  p.map = train ? Map::kBackward : Map::kScale;
  p.dy = t.dy.arg;
  p.out = t.out.arg;
  p.relu = masked;
  if (masked) p.extra = t.extra.arg;
  if (residual) p.grad_residual = t.grad_residual.arg;
  p.mean = t.mean.arg;
  p.invstd = t.invstd.arg;
  p.running_mean = t.mean.arg;
  PerChannel running_var = make_channel(DType::kFloat64, std::vector<double>(p.channels, 0.7));
  p.running_var = running_var.arg;
  p.weight = t.weight.arg;
  p.grad_weight = t.a.arg;
  p.grad_bias = t.b.arg;
  std::vector<const Data*> outputs = {&t.out};
  if (residual) outputs.push_back(&t.grad_residual);
  t.run({&t.a, &t.b}, outputs);
  const auto a = read_back(t.a), b = read_back(t.b), dx = read_back(t.out), dr = read_back(t.grad_residual);
  const double u = t.compute_u();
  for (int64_t c = 0; c < p.channels; ++c) {
    const long double mean = t.mean.values[c];
    const long double r = train ? t.invstd.values[c] : 1 / sqrtl(0.7L + p.eps);
    const Sums sums = sums_of(t, c, mean, masked);
    const double mass = static_cast<double>(sums.dy_xmu_mass * fabsl(r)) * (kRoundings + 4) * kU64;
    expect_near(a[c], sums.dy_xmu * r, mass, t.a.dtype, setting, p, "gradWeight", c);
    expect_near(b[c], sums.dy, static_cast<double>(sums.dy_mass) * kRoundings * kU64, t.b.dtype, setting, p,
                "gradBias", c);
    const long double scale = r * t.weight.values[c];
    const long double offset = train ? sums.dy / p.count : 0;
    const long double slope = train ? r * r * sums.dy_xmu / p.count : 0;
    const long double sums_error = train ? kRoundings * kU64 * (sums.dy_mass + 0 * mass) / p.count : 0;
    const long double slope_error = train ? kRoundings * kU64 * r * r * sums.dy_xmu_mass / p.count : 0;
    for (int64_t i = 0; i < p.count; ++i) {
      const bool counts = !masked || t.extra.at(c, i, p.count) > 0;
      const long double dy = counts ? t.dy.at(c, i, p.count) : 0;
      const long double off = t.x.at(c, i, p.count) - mean;
      const long double want = (dy - offset - off * slope) * scale;
      const double bound = static_cast<double>(
          fabsl(scale) * (sums_error + fabsl(off) * slope_error +
                          u * (4 * fabsl(dy) + 5 * fabsl(offset) + 8 * fabsl(off * slope))));
      expect_near(dx[c * p.count + i], want, bound, setting.dtype, setting, p, "dx", c * p.count + i);
      if (residual)
        expect(dr[c * p.count + i] == static_cast<double>(dy), setting, p, "dr", c * p.count + i,
               dr[c * p.count + i], static_cast<double>(dy), 0);
    }
  }
}

void test_quantize(const Setting& setting, DType dtype) {
  Setting s = setting;
  s.dtype = s.second_dtype = dtype;
  Bench t(s);
  Program& p = t.program;
  std::vector<double> values(p.channels * p.count);
  const double low = dtype == DType::kInt8 ? -128 : (dtype == DType::kUInt8 ? 0 : -2147483648.0);
  const double high = dtype == DType::kInt8 ? 127 : (dtype == DType::kUInt8 ? 255 : 2147483647.0);
  for (double& value : values)
    value = low + static_cast<double>(t.random()) / 4294967296.0 * (high - low);
  t.x = make_data(s.shape.extents, p.channels, s.layout, dtype, values);
  p.x = t.x.arg;
  p.finalize = Finalize::kQuantized;
  p.map = Map::kQuantize;
  p.out = t.out.arg;
  p.weight = t.weight.arg;
  p.bias = t.bias.arg;
  PerChannel variance = make_channel(DType::kFloat32, std::vector<double>(p.channels, 4.0));
  PerChannel mean = make_channel(DType::kFloat32, std::vector<double>(p.channels, 2.0));
  p.running_var = variance.arg;
  p.mean = mean.arg;
  p.input_scale = dtype == DType::kInt32 ? 0.001 : 0.5;
  p.output_scale = dtype == DType::kInt32 ? 0.0005 : 0.25;
  p.input_zero_point = 3;
  p.output_zero_point = -2;
  t.run({}, {&t.out});
  const auto out = read_back(t.out);
  for (int64_t c = 0; c < p.channels; ++c) {
    const long double scale = t.weight.values[c] / sqrtl(4.0L + p.eps);
    for (int64_t i = 0; i < p.count; ++i) {
      const long double x = (t.x.at(c, i, p.count) - 3) * p.input_scale;
      const long double real = ((x - 2) * scale + t.bias.values[c]) / p.output_scale - 2;
      const long double want = fminl(fmaxl(roundl(real), low), high);
      // One off is allowed within float64 rounding of a tie.
      const bool near_tie = fabsl(fabsl(real - truncl(real)) - 0.5L) < 16 * kU64 * (fabsl(real) + 100);
      const double off = std::fabs(static_cast<double>(out[c * p.count + i] - want));
      expect(off == 0 || (near_tie && off == 1), s, p, "q", c * p.count + i, out[c * p.count + i],
             static_cast<double>(want), 0);
    }
  }
}

void test_constant_channels(const Setting& setting) {
  Bench t(setting);
  Program& p = t.program;
  std::vector<double> values(p.channels * p.count);
  for (int64_t i = 0; i < p.channels * p.count; ++i)
    values[i] = 0.1 + 100.0 * static_cast<double>(i / p.count);
  t.x = make_data(setting.shape.extents, p.channels, setting.layout, setting.dtype, values);
  p.x = t.x.arg;
  p.reduce = Reduce::kMoments;
  p.finalize = Finalize::kStats;
  p.eps = 0;
  p.mean_out = t.a.arg;
  p.invstd_out = t.b.arg;
  t.run({&t.a, &t.b}, {});
  const auto a = read_back(t.a), b = read_back(t.b);
  for (int64_t c = 0; c < p.channels; ++c) {
    const double value = t.x.at(c, 0, p.count);
    expect(a[c] == value, setting, p, "mean of a constant", c, a[c], value, 0);
    expect(b[c] == HUGE_VAL, setting, p, "invstd of a constant", c, b[c], HUGE_VAL, 0);
  }
}

// NaN and infinities stay in their channel, relu keeps NaN.
void test_special_values(const Setting& setting) {
  Bench t(setting);
  Program& p = t.program;
  if (p.channels < 3 || p.count < 2 || setting.layout == Layout::kBroadcast) return;
  auto values = t.x.values;
  values[0] = std::nan("");
  values[p.count + 1] = HUGE_VAL;
  t.x = make_data(setting.shape.extents, p.channels, setting.layout, setting.dtype, values);
  p.x = t.x.arg;
  p.finalize = Finalize::kElemt;
  p.map = Map::kNormalize;
  p.relu = true;
  p.mean = t.mean.arg;
  std::vector<double> scales(p.channels, 1.0);
  scales[2] = 1e36;  // beyond what the float32 map takes
  PerChannel invstd = make_channel(DType::kFloat64, scales);
  p.invstd = invstd.arg;
  p.out = t.out.arg;
  t.run({}, {&t.out});
  const auto y = read_back(t.out);
  expect(std::isnan(y[0]), setting, p, "relu(NaN)", 0, y[0], std::nan(""), 0);
  expect(y[p.count + 1] == HUGE_VAL, setting, p, "inf", p.count + 1, y[p.count + 1], HUGE_VAL, 0);
  for (int64_t c = 2; c < p.channels; ++c) {
    for (int64_t i = 0; i < p.count; ++i) {
      const double off = t.x.at(c, i, p.count) - t.mean.values[c];
      const double want = std::fmax(rounded(off * scales[c], setting.dtype), 0.0);
      if (std::isinf(want)) continue;
      expect_near(y[c * p.count + i], want, 4 * t.compute_u() * want + ulp(want, setting.dtype),
                  setting.dtype, setting, p, "y", c * p.count + i);
    }
  }
}

// An empty batch: sums of nothing, and a map of nothing.
void test_empty(Layout layout) {
  Setting setting{{{0, 4}, 3}, layout, layout, DType::kFloat32, DType::kFloat32, 0};
  Bench t(setting);
  Program& p = t.program;
  p.reduce = Reduce::kMoments;
  p.finalize = Finalize::kStats;
  p.map = Map::kNormalize;
  p.out = t.out.arg;
  p.mean_out = t.a.arg;
  p.invstd_out = t.b.arg;
  t.run({&t.a, &t.b}, {&t.out});
  const auto a = read_back(t.a), b = read_back(t.b);
  for (int64_t c = 0; c < p.channels; ++c) {
    expect(a[c] == 0, setting, p, "mean of nothing", c, a[c], 0, 0);
    expect(std::isnan(b[c]), setting, p, "invstd of nothing", c, b[c], std::nan(""), 0);
  }
}

void test_fills() {
  Setting setting{{{3}, 1}, Layout::kPadded, Layout::kPadded, DType::kBFloat16, DType::kBFloat16, 0};
  Data data = make_data({3, 5}, 4, Layout::kPadded, DType::kBFloat16, {});
  Program p;
  p.fill_count = 1;
  p.fills[0].value = 2.5;
  TensorArg& tensor = p.fills[0].tensor;
  tensor.data = data.arg.data;
  tensor.rank = 3;
  tensor.dtype = data.dtype;
  tensor.slot = 0;
  const int64_t extents[] = {3, 5, 4};
  const int64_t strides[] = {data.arg.strides[0], data.arg.strides[1], data.arg.channel_stride};
  for (int d = 0; d < 3; ++d) {
    tensor.extents[d] = extents[d];
    tensor.strides[d] = strides[d];
  }
  for (const IsaUnderTest& isa : isas())
    run_program(p, isa.run, Order::kForwards);
  for (double value : read_back(data))
    expect(value == 2.5, setting, p, "fill", 0, value, 2.5, 0);
}

void test_setting(const Setting& setting) {
  for (bool masked : {false, true})
    test_reduce_backward(setting, masked);
  test_sums(setting);
  const bool can_be_written = setting.layout != Layout::kBroadcast;
  test_forward(setting, false, false, false);
  test_forward(setting, true, true, can_be_written);
  test_backward(setting, true, false, false);
  test_backward(setting, true, true, true);
  test_backward(setting, false, true, true);
  if (setting.dtype == setting.second_dtype) {
    test_constant_channels(setting);
    test_special_values(setting);
  }
}

int run() {
  const std::vector<Shape> small = {
      {{1, 1}, 1},   {{2, 16}, 8},   {{3, 7, 7}, 5}, {{2, 3, 1, 5}, 17}, {{5, 4}, 3},
      {{33, 1}, 64}, {{3, 50}, 100}, {{1, 4099}, 2}, {{300, 3}, 20},
  };
  const std::vector<Layout> layouts = {Layout::kContiguous, Layout::kChannelsLast, Layout::kPadded,
                                       Layout::kReversed,   Layout::kTransposed,   Layout::kBroadcast};
  const std::vector<DType> dtypes = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64};
  for (const Shape& shape : small) {
    for (Layout layout : layouts) {
      for (DType dtype : dtypes)
        test_setting({shape, layout, layout, dtype, dtype, 0.5});
      test_quantize({shape, layout == Layout::kBroadcast ? Layout::kPadded : layout, layout, DType::kInt8,
                     DType::kInt8, 0},
                    layout == Layout::kContiguous
                        ? DType::kInt8
                        : (layout == Layout::kPadded ? DType::kInt32 : DType::kUInt8));
    }
    test_setting({shape, Layout::kContiguous, Layout::kChannelsLast, DType::kFloat32, DType::kFloat32, 0.5});
    test_setting({shape, Layout::kChannelsLast, Layout::kBroadcast, DType::kFloat32, DType::kBFloat16, 0.5});
    test_setting({shape, Layout::kContiguous, Layout::kContiguous, DType::kFloat16, DType::kFloat64, 0.5});
    test_setting({shape, Layout::kPadded, Layout::kTransposed, DType::kBFloat16, DType::kFloat16, 0.5});
  }
  // Large enough to be cut into several tasks, splits and tiles; means far from 0.
  for (const Shape& large : {Shape{{8, 70, 70}, 3}, Shape{{64, 7, 7}, 24}, Shape{{2000}, 40}}) {
    for (Layout layout : {Layout::kContiguous, Layout::kChannelsLast, Layout::kTransposed}) {
      test_setting({large, layout, layout, DType::kFloat32, DType::kFloat32, 1e3});
      test_setting({large, layout, layout, DType::kBFloat16, DType::kBFloat16, 0});
    }
    test_reduce_backward(
        {large, Layout::kContiguous, Layout::kContiguous, DType::kFloat64, DType::kFloat64, 1e6}, true);
    test_forward({large, Layout::kChannelsLast, Layout::kContiguous, DType::kFloat32, DType::kFloat32, 1e6},
                 false, false, false);
  }
  for (Layout layout : {Layout::kContiguous, Layout::kChannelsLast, Layout::kPadded})
    test_empty(layout);
  test_fills();
  printf("%d values checked on", checks);
  for (const IsaUnderTest& isa : isas())
    printf(" %s", isa.name);
  printf("; the worst used %.3g of its bound\n", worst_used);
  return 0;
}

}  // namespace
}  // namespace bn::test

int main() {
  return bn::test::run();
}
