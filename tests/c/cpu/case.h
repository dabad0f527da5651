// Data for the kernel tests: a program with tensors in given layouts, and ways to run it.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/plan.h"
#include "core/program.h"

namespace bn::test {

enum class Layout { kContiguous, kChannelsLast, kPadded, kReversed, kTransposed, kBroadcast };

// One data tensor: its values as [channel][position], and where they lie in memory.
struct Data {
  DType dtype = DType::kFloat32;
  std::vector<double> values;
  std::vector<unsigned char> memory;
  std::vector<int64_t> index;  // element index in memory of each value
  DataArg arg;

  double at(int64_t channel, int64_t position, int64_t count) const {
    return values[channel * count + position];
  }
};

struct PerChannel {
  DType dtype = DType::kFloat32;
  std::vector<double> values;
  std::vector<unsigned char> memory;
  ChannelArg arg;
};

// The value that a type stores for x, rounded by this file's own arithmetic.
double rounded(double x, DType dtype);
// Distance between neighbours of the type at x.
double ulp(double x, DType dtype);

Data make_data(const std::vector<int64_t>& extents, int64_t channels, Layout layout, DType dtype,
               const std::vector<double>& values);
PerChannel make_channel(DType dtype, const std::vector<double>& values);

// What an output's memory holds after a run, as values; fails if an element outside the tensor changed.
std::vector<double> read_back(const Data& data);
std::vector<double> read_back(const PerChannel& data);

enum class Order { kForwards, kBackwards, kShuffled };

// Plans and runs the program. The workspace has exactly the planned size and is filled with NaN.
void run_program(const Program& program, cpu::RunTask isa, Order order);
std::string path_of(const Program& program);

struct IsaUnderTest {
  const char* name;
  cpu::RunTask run;
};
// Those that this machine runs; baseline first.
std::vector<IsaUnderTest> isas();

}  // namespace bn::test
