// A call of BatchNormReduceBackward with everything it needs, for tests whose subject is not the operator.
//
// All values are small multiples of 1/2, so that every sum is exact in float32 and can be compared with ==.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "check.h"

struct ReduceBackward {
  int64_t outer, channels, inner;
  std::vector<float> dy, x, mean, invstd;
  std::vector<float> out[4];  // sumDy, sumDyXmu, gradWeight, gradBias
  std::vector<float> expected[4];
  bnapiTensor* inputs[4] = {};
  bnapiTensor* outputs[4] = {};

  ReduceBackward(int64_t n, int64_t c, int64_t hw, int seed = 0) : outer(n), channels(c), inner(hw) {
    const size_t count = static_cast<size_t>(n * c * hw);
    dy.resize(count);
    x.resize(count);
    for (size_t i = 0; i < count; ++i) {
      dy[i] = static_cast<float>(static_cast<int>((i * 7 + static_cast<size_t>(seed)) % 5) - 2);
      x[i] = static_cast<float>(static_cast<int>((i * 3 + static_cast<size_t>(seed)) % 7) - 3);
    }
    mean.assign(static_cast<size_t>(c), 0.5f);
    invstd.assign(static_cast<size_t>(c), 2.0f);
    for (int i = 0; i < 4; ++i) {
      out[i].assign(static_cast<size_t>(c), -77.0f);
      expected[i].assign(static_cast<size_t>(c), 0.0f);
    }
    for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
      const auto channel = static_cast<size_t>(i / hw % c);
      const auto at = static_cast<size_t>(i);
      expected[0][channel] += dy[at];
      expected[1][channel] += dy[at] * (x[at] - 0.5f);
    }
    for (size_t k = 0; k < static_cast<size_t>(c); ++k) {
      expected[2][k] = expected[1][k] * 2.0f;
      expected[3][k] = expected[0][k];
    }
    create();
  }
  ReduceBackward(const ReduceBackward&) = delete;
  ReduceBackward& operator=(const ReduceBackward&) = delete;
  ~ReduceBackward() { destroy(); }

  static bnapiTensor* tensor(std::vector<float>& data, const std::vector<int64_t>& shape) {
    return bnapiCreateTensor(shape.data(), shape.size(), BNAPI_FLOAT, nullptr, 0, BNAPI_FORMAT_ND,
                             shape.data(), shape.size(), data.data());
  }

  void create() {
    inputs[0] = tensor(dy, {outer, channels, inner});
    inputs[1] = tensor(x, {outer, channels, inner});
    inputs[2] = tensor(mean, {channels});
    inputs[3] = tensor(invstd, {channels});
    for (int i = 0; i < 4; ++i)
      outputs[i] = tensor(out[i], {channels});
  }

  void destroy() {
    for (bnapiTensor*& t : inputs) {
      bnapiDestroyTensor(t);
      t = nullptr;
    }
    for (bnapiTensor*& t : outputs) {
      bnapiDestroyTensor(t);
      t = nullptr;
    }
  }

  bnapiStatus plan(uint64_t* size, bnapiOpExecutor** executor) const {
    return bnapiBatchNormReduceBackwardGetWorkspaceSize(inputs[0], inputs[1], inputs[2], inputs[3], nullptr,
                                                        true, true, true, outputs[0], outputs[1], outputs[2],
                                                        outputs[3], size, executor);
  }

  void spoil() {
    for (auto& o : out)
      o.assign(o.size(), -77.0f);
  }

  bool right() const {
    for (int i = 0; i < 4; ++i) {
      if (out[i] != expected[i]) return false;
    }
    return true;
  }
};

// 64-byte aligned memory for a workspace.
struct Workspace {
  explicit Workspace(uint64_t bytes)
      : size(bytes), memory(bytes == 0 ? nullptr : aligned_alloc(64, (bytes + 63) / 64 * 64)) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() { free(memory); }
  const uint64_t size;
  void* const memory;
};

// Both phases, on the stream.
inline bnapiStatus run(const ReduceBackward& call, Workspace& workspace, bnapiStream stream) {
  uint64_t size = 0;
  bnapiOpExecutor* executor = nullptr;
  const bnapiStatus status = call.plan(&size, &executor);
  if (status != BNAPI_SUCCESS) return status;
  return bnapiBatchNormReduceBackward(workspace.memory, size, executor, stream);
}
