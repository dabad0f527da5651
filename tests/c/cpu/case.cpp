#include "case.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

namespace bn::test {
namespace {

constexpr unsigned char kUntouched = 0xA5;

struct Format {
  int digits;        // of the significand
  int min_exponent;  // of the smallest normal number
  double max;
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return {53, -1022, std::numeric_limits<double>::max()};
    case DType::kFloat16:
      return {11, -14, 65504.0};
    case DType::kBFloat16:
      return {8, -126, 0x1.FEp127};
    default:
      return {24, -126, 0x1.FFFFFEp127};
  }
}

bool integral(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kUInt8 || dtype == DType::kInt32;
}

void put(unsigned char* memory, DType dtype, double value) {
  switch (dtype) {
    case DType::kInt8:
      *reinterpret_cast<int8_t*>(memory) = static_cast<int8_t>(value);
      break;
    case DType::kUInt8:
      *memory = static_cast<uint8_t>(value);
      break;
    case DType::kInt32: {
      const auto integer = static_cast<int32_t>(value);
      memcpy(memory, &integer, sizeof(integer));
      break;
    }
    default:
      store_from_double(memory, dtype, value);
      break;
  }
}

double get(const unsigned char* memory, DType dtype) {
  return load_as_double(memory, dtype);
}

// Strides of the loop dimensions and the channel for a layout; *base moves element 0 into the memory.
void lay_out(const std::vector<int64_t>& extents, int64_t channels, Layout layout,
             std::vector<int64_t>* strides, int64_t* channel_stride, int64_t* base) {
  const int rank = static_cast<int>(extents.size());
  strides->assign(rank, 0);
  *base = 0;
  int64_t step = 1;
  const auto inner = [&](int64_t gap) {
    for (int d = rank - 1; d > 0; --d) {
      (*strides)[d] = step;
      step *= extents[d] * gap;
    }
  };
  switch (layout) {
    case Layout::kContiguous:
    case Layout::kReversed:
    case Layout::kBroadcast:
      inner(1);
      *channel_stride = step;
      (*strides)[0] = step * channels;
      break;
    case Layout::kPadded:
      step = 2;
      inner(1);
      *channel_stride = step + 3;
      (*strides)[0] = (step + 3) * channels + 5;
      break;
    case Layout::kChannelsLast:
      *channel_stride = 1;
      step = channels;
      inner(1);
      (*strides)[0] = step;
      break;
    case Layout::kTransposed:  // the batch innermost, the channel outermost
      for (int d = 0; d < rank; ++d) {
        (*strides)[d] = step;
        step *= extents[d];
      }
      *channel_stride = step;
      break;
  }
  if (layout == Layout::kReversed) {
    for (int d = 0; d < rank; ++d) {
      *base += (extents[d] - 1) * (*strides)[d];
      (*strides)[d] = -(*strides)[d];
    }
  }
  if (layout == Layout::kBroadcast) (*strides)[rank - 1] = 0;
}

}  // namespace

double ulp(double x, DType dtype) {
  const Format format = format_of(dtype);
  const double magnitude = std::fabs(x);
  int exponent = format.min_exponent;
  if (magnitude > 0 && std::isfinite(magnitude)) exponent = std::max(std::ilogb(magnitude), exponent);
  return std::ldexp(1.0, exponent - format.digits + 1);
}

double rounded(double x, DType dtype) {
  if (integral(dtype)) return std::nearbyint(x);
  if (!std::isfinite(x)) return x;
  const double step = ulp(x, dtype);
  const double result = std::nearbyint(x / step) * step;
  return std::fabs(result) > format_of(dtype).max ? std::copysign(HUGE_VAL, x) : result;
}

Data make_data(const std::vector<int64_t>& extents, int64_t channels, Layout layout, DType dtype,
               const std::vector<double>& values) {
  Data data;
  data.dtype = dtype;
  std::vector<int64_t> strides;
  int64_t channel_stride = 0;
  int64_t base = 0;
  lay_out(extents, channels, layout, &strides, &channel_stride, &base);
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  int64_t last = 0;
  data.index.resize(channels * count);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = base + c * channel_stride;
      int64_t rest = i;
      for (int d = static_cast<int>(extents.size()) - 1; d >= 0; --d) {
        at += rest % extents[d] * strides[d];
        rest /= extents[d];
      }
      data.index[c * count + i] = at;
      last = std::max(last, at);
    }
  }
  const int64_t size = dtype_size(dtype);
  data.memory.assign((last + 1) * size, kUntouched);
  data.values.resize(channels * count);
  if (!values.empty()) {
    for (size_t i = 0; i < data.values.size(); ++i)
      put(&data.memory[data.index[i] * size], dtype, rounded(values[i], dtype));
    // Broadcast elements share memory: the last one written is what all of them are.
    for (size_t i = 0; i < data.values.size(); ++i)
      data.values[i] = get(&data.memory[data.index[i] * size], dtype);
  }
  data.arg.dtype = dtype;
  data.arg.slot = 0;
  data.arg.channel_stride = channel_stride;
  std::copy(strides.begin(), strides.end(), data.arg.strides);
  data.arg.data = data.memory.data() + base * size;
  return data;
}

PerChannel make_channel(DType dtype, const std::vector<double>& values) {
  PerChannel data;
  data.dtype = dtype;
  const int64_t size = dtype_size(dtype);
  data.memory.assign(values.size() * size, kUntouched);
  for (size_t i = 0; i < values.size(); ++i)
    store_from_double(&data.memory[i * size], dtype, rounded(values[i], dtype));
  data.values.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    data.values[i] = get(&data.memory[i * size], dtype);
  data.arg.data = data.memory.data();
  data.arg.stride = 1;
  data.arg.dtype = dtype;
  data.arg.slot = 0;
  return data;
}

std::vector<double> read_back(const Data& data) {
  const int64_t size = dtype_size(data.dtype);
  std::vector<double> values(data.index.size());
  std::vector<bool> owned(data.memory.size() / size, false);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = get(&data.memory[data.index[i] * size], data.dtype);
    owned[data.index[i]] = true;
  }
  for (size_t i = 0; i < data.memory.size(); ++i) {
    if (!owned[i / size] && data.memory[i] != kUntouched) {
      printf("a byte between an output's elements changed\n");
      exit(1);
    }
  }
  return values;
}

std::vector<double> read_back(const PerChannel& data) {
  const int64_t size = dtype_size(data.dtype);
  std::vector<double> values(data.memory.size() / size);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = get(&data.memory[i * size], data.dtype);
  return values;
}

void run_program(const Program& program, cpu::RunTask isa, Order order) {
  const auto plan = cpu::make_plan(program);
  auto schedule = static_cast<const cpu::Schedule&>(*plan);
  // Outputs of every size are also written past the caches, as large ones are.
  if (order != Order::kForwards && program.map != Map::kNone && schedule.path != cpu::Path::kPacked)
    schedule.stream_out = true;
  // The workspace is aligned to 64 bytes and not a byte longer than planned.
  std::vector<unsigned char> memory(plan->workspace_bytes + 64 + 16, 0xFF);
  unsigned char* workspace = memory.data();
  while (reinterpret_cast<uintptr_t>(workspace) % 64 != 0)
    ++workspace;
  std::mt19937 random(5);
  for (int stage = 0; stage < plan->stages; ++stage) {
    std::vector<int64_t> tasks(plan->tasks[stage]);
    std::iota(tasks.begin(), tasks.end(), 0);
    if (order == Order::kBackwards) std::reverse(tasks.begin(), tasks.end());
    if (order == Order::kShuffled) std::shuffle(tasks.begin(), tasks.end(), random);
    for (int64_t task : tasks)
      isa(program, schedule, reinterpret_cast<char*>(workspace), stage, task);
  }
  for (int i = 0; i < 16; ++i) {
    if (workspace[plan->workspace_bytes + i] != 0xFF) {
      printf("the workspace was overrun\n");
      exit(1);
    }
  }
}

std::string path_of(const Program& program) {
  return cpu::make_plan(program)->describe();
}

std::vector<IsaUnderTest> isas() {
  std::vector<IsaUnderTest> all = {{"baseline", cpu::baseline::run}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c"))
    all.push_back({"avx2", cpu::avx2::run});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    all.push_back({"avx512", cpu::avx512::run});
#endif
  return all;
}

}  // namespace bn::test
