// From checked parameters to a channel program.
//
// An operator names the parameters that take part; the builder turns the axes around the channel axis into loop
// dimensions: extents of 1 are dropped, dimensions are ordered by stride, outermost first, and neighbours are merged
// where all data tensors of the program step through them evenly. A contiguous [N, C, H, W] becomes one loop over
// N and one over H * W; its channels-last twin becomes a single loop over N * H * W.
#pragma once

#include <array>

#include "core/checker.h"
#include "core/program.h"

namespace bn {

class ProgramBuilder {
 public:
  // Data has the shape of `channels.of`.
  explicit ProgramBuilder(const Channels& channels) : shape_of_(channels.of), axis_(channels.axis) {
    program_.channels = channels.count;
    program_.count = 1;
  }

  // Attaches a parameter to a field of the program; one that was not given leaves the field absent.
  void data(DataArg Program::* field, const Param& param);
  void per_channel(ChannelArg Program::* field, const Param& param);
  void tensor(TensorArg Program::* field, const Param& param);

  // For the stages and attributes.
  Program* operator->() { return &program_; }

  // The program, with its loops.
  Program build();

 private:
  static constexpr int kMaxData = 5;

  const Param& shape_of_;
  int axis_;
  Program program_;
  // The data tensors so far, and what describes them.
  std::array<DataArg*, kMaxData> args_{};
  std::array<const Tensor*, kMaxData> tensors_{};
  int data_count_ = 0;
};

// A program that only gives every element of an output one value. Ranks above kMaxRank are refused.
class FillProgram {
 public:
  explicit FillProgram(const Call& call) : call_(call) {}
  // An output that was not given, or has no elements, needs nothing.
  FillProgram& fill(const Param& output, double value);
  Program build() const { return program_; }

 private:
  const Call& call_;
  Program program_;
};

}  // namespace bn
