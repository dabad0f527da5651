// The CUDA backend by itself, on the emulated device: every stage against plain float64 loops, in several layouts
// and types, with threads scheduled in three orders that must give the same bits.
#include <bn_simt.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "math/dtype.h"

namespace {

using bn::DType;

int failures = 0;

struct Shape {
  const char* name;
  int64_t n, c, l;
  bool channels_last;
  int64_t skew;  // elements by which the data starts off its allocation
};

// Values are small multiples of 1/8, which every type holds.
double value_of(int64_t i, int salt) {
  return static_cast<double>((i * 37 + salt * 11) % 29 - 14) / 8.0;
}

bn::Backend* backend() {
  static std::string why;
  return bn::cuda_backend(&why);
}

struct Buffer {
  void* memory = nullptr;
  size_t bytes = 0;
  explicit Buffer(size_t size) : memory(backend()->allocate(0, size)), bytes(size) {}
  ~Buffer() { backend()->release(0, memory); }
  Buffer(const Buffer&) = delete;
  std::vector<char> read() const {
    std::vector<char> host(bytes);
    backend()->copy(0, host.data(), memory, bytes);
    return host;
  }
  void write(const std::vector<char>& host) { backend()->copy(0, memory, host.data(), bytes); }
};

struct Data {
  Buffer buffer;
  std::vector<double> values;  // [n][c][l]
  bn::DataArg arg;
  Data(const Shape& s, DType dtype, int slot, int salt)
      : buffer(static_cast<size_t>((s.n * s.c * s.l + s.skew) * bn::dtype_size(dtype))) {
    arg.dtype = dtype;
    arg.slot = slot;
    arg.data = static_cast<char*>(buffer.memory) + s.skew * bn::dtype_size(dtype);
    arg.channel_stride = s.channels_last ? 1 : s.l;
    arg.strides[0] = s.c * s.l;
    arg.strides[1] = s.channels_last ? s.c : 1;
    std::vector<char> host(buffer.bytes);
    for (int64_t i = 0; i < s.n * s.c * s.l; ++i) {
      const int64_t n = i / (s.c * s.l), c = i / s.l % s.c, l = i % s.l;
      values.push_back(value_of(i, salt));
      const int64_t at = s.skew + n * arg.strides[0] + c * arg.channel_stride + l * arg.strides[1];
      bn::store_from_double(&host[static_cast<size_t>(at * bn::dtype_size(dtype))], dtype, values.back());
    }
    buffer.write(host);
  }
};

struct Parameter {
  Buffer buffer;
  std::vector<double> values;
  bn::ChannelArg arg;
  Parameter(int64_t channels, DType dtype, int slot, double base)
      : buffer(static_cast<size_t>(channels * bn::dtype_size(dtype))) {
    arg.dtype = dtype;
    arg.slot = slot;
    arg.stride = 1;
    arg.data = buffer.memory;
    std::vector<char> host(buffer.bytes);
    for (int64_t c = 0; c < channels; ++c) {
      values.push_back(base + static_cast<double>(c % 5) / 4.0);
      bn::store_from_double(&host[static_cast<size_t>(c * bn::dtype_size(dtype))], dtype, values.back());
    }
    buffer.write(host);
  }
  std::vector<double> read() const {
    const std::vector<char> host = buffer.read();
    std::vector<double> out;
    for (size_t i = 0; i < values.size(); ++i)
      out.push_back(bn::load_as_double(&host[i * static_cast<size_t>(bn::dtype_size(arg.dtype))], arg.dtype));
    return out;
  }
};

void expect(const std::string& what, double got, double want, double tolerance) {
  if (std::abs(got - want) <= tolerance || (std::isnan(got) && std::isnan(want))) return;
  if (++failures <= 20) printf("%s: got %.17g, want %.17g\n", what.c_str(), got, want);
}

double unit(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p-11;
    case DType::kBFloat16:
      return 0x1p-8;
    case DType::kFloat32:
      return 0x1p-24;
    default:
      return 0x1p-53;
  }
}

// Runs the program under the three schedules; what it writes must be the same.
void run(const bn::Program& program, const std::vector<Buffer*>& outputs) {
  const auto plan = backend()->plan(0, program);
  Buffer workspace(plan->workspace_bytes + 64);
  const auto stream = backend()->create_stream(0);
  std::vector<std::vector<char>> first;
  for (const char* schedule : {"order", "reversed", "random:7"}) {
    bn_simt_set_schedule(schedule);
    backend()->set(0, workspace.memory, 0xFF, workspace.bytes);
    backend()->launch("test", plan, program, workspace.memory, *stream);
    stream->synchronize(-1);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (first.size() <= i) {
        first.push_back(outputs[i]->read());
      } else if (first[i] != outputs[i]->read()) {
        ++failures;
        printf("%s: other bits under schedule %s\n", plan->describe().c_str(), schedule);
      }
    }
  }
  bn_simt_set_schedule("order");
}

double out_value(const Data& data, const Shape& s, int64_t n, int64_t c, int64_t l) {
  static thread_local std::vector<char> host;
  static thread_local const Data* last = nullptr;
  if (last != &data || (n == 0 && c == 0 && l == 0)) host = data.buffer.read();
  last = &data;
  const int64_t size = bn::dtype_size(data.arg.dtype);
  const int64_t at = s.skew + n * data.arg.strides[0] + c * data.arg.channel_stride + l * data.arg.strides[1];
  return bn::load_as_double(&host[static_cast<size_t>(at * size)], data.arg.dtype);
}

bn::Program program_of(const Shape& s) {
  bn::Program p;
  p.loop_dims = 2;
  p.extents[0] = s.n;
  p.extents[1] = s.l;
  p.channels = s.c;
  p.count = s.n * s.l;
  return p;
}

void backward_case(const Shape& s, DType dtype, bool relu) {
  const std::string name = std::string(s.name) + " dtype " + std::to_string(static_cast<int>(dtype));
  Data x(s, dtype, 0, 1), dy(s, dtype, 1, 2), saved(s, dtype, 2, 3), dx(s, dtype, 3, 4);
  const DType parameter = dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Parameter mean(s.c, parameter, 4, 0.25), invstd(s.c, parameter, 5, 0.5), weight(s.c, parameter, 6, 1.5);
  Parameter grad_weight(s.c, parameter, 7, 0), grad_bias(s.c, parameter, 8, 0);
  bn::Program p = program_of(s);
  p.reduce = bn::Reduce::kDyDotXmu;
  p.finalize = bn::Finalize::kBackwardTrain;
  p.map = bn::Map::kBackward;
  p.x = x.arg, p.dy = dy.arg, p.out = dx.arg;
  p.relu = relu;
  if (relu) p.extra = saved.arg;
  p.mean = mean.arg, p.invstd = invstd.arg, p.weight = weight.arg;
  p.grad_weight = grad_weight.arg, p.grad_bias = grad_bias.arg;
  run(p, {&dx.buffer, &grad_weight.buffer, &grad_bias.buffer});
  const std::vector<double> got_weight = grad_weight.read(), got_bias = grad_bias.read();
  const double count = static_cast<double>(s.n * s.l);
  const size_t channels = static_cast<size_t>(s.c);
  std::vector<double> sum(channels), dot(channels), mass(channels);
  const auto at = [&](int64_t n, int64_t c, int64_t l) {
    return static_cast<size_t>((n * s.c + c) * s.l + l);
  };
  const auto masked = [&](size_t i) { return relu && !(saved.values[i] > 0) ? 0.0 : dy.values[i]; };
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t c = 0; c < s.c; ++c)
      for (int64_t l = 0; l < s.l; ++l) {
        const double term = masked(at(n, c, l)) * (x.values[at(n, c, l)] - mean.values[c]);
        sum[c] += masked(at(n, c, l)), dot[c] += term, mass[c] += std::abs(term);
      }
  for (int64_t c = 0; c < s.c; ++c) {
    expect(name + " grad_bias", got_bias[c], sum[c], unit(parameter) * std::abs(sum[c]));
    const double want = dot[c] * invstd.values[c];
    expect(name + " grad_weight", got_weight[c], want, unit(parameter) * std::abs(want) + 0x1p-48 * mass[c]);
  }
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t c = 0; c < s.c; ++c)
      for (int64_t l = 0; l < s.l; ++l) {
        const double r = invstd.values[c], g = masked(at(n, c, l)),
                     xmu = x.values[at(n, c, l)] - mean.values[c];
        const double want = (g - sum[c] / count - xmu * r * r * dot[c] / count) * weight.values[c] * r;
        const double size =
            (std::abs(g) + std::abs(sum[c] / count) + std::abs(xmu * r * r * dot[c] / count)) *
            weight.values[c] * r;
        const double map_unit = dtype == DType::kFloat64 ? 0x1p-53 : 0x1p-24;
        expect(name + " dx", out_value(dx, s, n, c, l), want,
               1.01 * unit(dtype) * std::abs(want) + 8 * map_unit * size + 0x1p-24 * (unit(dtype) > 0x1p-20));
      }
}

void forward_case(const Shape& s, DType dtype) {
  const std::string name = std::string(s.name) + " dtype " + std::to_string(static_cast<int>(dtype));
  Data x(s, dtype, 0, 1), y(s, dtype, 1, 2);
  const DType parameter = dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Parameter weight(s.c, parameter, 2, 1.5), bias(s.c, parameter, 3, -0.5);
  Parameter mean(s.c, parameter, 4, 0), invstd(s.c, parameter, 5, 0);
  bn::Program p = program_of(s);
  p.reduce = bn::Reduce::kMoments;
  p.finalize = bn::Finalize::kTrain;
  p.map = bn::Map::kNormalize;
  p.x = x.arg, p.out = y.arg;
  p.weight = weight.arg, p.bias = bias.arg, p.mean_out = mean.arg, p.invstd_out = invstd.arg;
  p.eps = 1e-3;
  run(p, {&y.buffer, &mean.buffer, &invstd.buffer});
  const std::vector<double> got_mean = mean.read(), got_invstd = invstd.read();
  for (int64_t c = 0; c < s.c; ++c) {
    // Wider than the kernels, so that the reference adds no error of its own.
    long double sum = 0, square = 0;
    double mass = 0;
    const double count = static_cast<double>(s.n * s.l);
    for (int64_t n = 0; n < s.n; ++n)
      for (int64_t l = 0; l < s.l; ++l) {
        const double v = x.values[static_cast<size_t>((n * s.c + c) * s.l + l)];
        sum += v, mass += std::abs(v);
      }
    const long double exact_mean = sum / count;
    const double mu = static_cast<double>(exact_mean);
    for (int64_t n = 0; n < s.n; ++n)
      for (int64_t l = 0; l < s.l; ++l)
        square += std::pow(x.values[static_cast<size_t>((n * s.c + c) * s.l + l)] - exact_mean, 2.0L);
    const double r = static_cast<double>(1 / std::sqrt(square / count + static_cast<long double>(p.eps)));
    expect(name + " mean", got_mean[c], mu, unit(parameter) * std::abs(mu) + 0x1p-47 * mass / count);
    expect(name + " invstd", got_invstd[c], r, unit(parameter) * r + 0x1p-46 * r);
    for (int64_t n = 0; n < s.n; ++n)
      for (int64_t l = 0; l < s.l; ++l) {
        const double a = (x.values[static_cast<size_t>((n * s.c + c) * s.l + l)] - mu) * r * weight.values[c];
        const double want = a + bias.values[c];
        const double map_unit = dtype == DType::kFloat64 ? 0x1p-51 : 0x1p-24;
        // The mean is as exact as a float64 sum: relative to the data, not to itself.
        const double of_mean = 0x1p-47 * mass / count * r * weight.values[c];
        expect(name + " y", out_value(y, s, n, c, l), want,
               1.01 * unit(dtype) * std::abs(want) + 6 * map_unit * (std::abs(a) + std::abs(bias.values[c])) +
                   of_mean + 0x1p-24 * (unit(dtype) > 0x1p-20));
      }
  }
}

}  // namespace

int main() {
  if (backend() == nullptr) {
    printf("no emulated device\n");
    return 1;
  }
  const Shape shapes[] = {
      {"rows", 2, 3, 64, false, 0},
      {"rows, odd", 3, 5, 49, false, 0},
      {"rows, misaligned", 2, 3, 64, false, 1},
      {"rows, long", 2, 2, 12000, false, 0},
      {"channels last", 6, 16, 9, true, 0},
      {"channels last, odd", 4, 3, 33, true, 0},
      {"channels last, long", 3, 40, 700, true, 0},
      {"one element", 1, 1, 1, false, 0},
  };
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64}) {
    for (const Shape& shape : shapes) {
      forward_case(shape, dtype);
      backward_case(shape, dtype, false);
      backward_case(shape, dtype, true);
    }
  }
  printf(failures == 0 ? "ok\n" : "%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
