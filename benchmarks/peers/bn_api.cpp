// This library, called through its C interface with a repeatable executor.

#include <cmath>

#include "bn_api.h"
#include "peer.h"

namespace {

void check(bnapiStatus status) {
  if (status != BNAPI_SUCCESS) throw peer::Skip(bnapiGetRecentErrMsg());
}

bnapiDataType dtype_of(const std::string& name) {
  if (name == "float32") return BNAPI_FLOAT;
  if (name == "float16") return BNAPI_FLOAT16;
  if (name == "bfloat16") return BNAPI_BF16;
  throw peer::Skip("dtype");
}

// Everything one case needs, alive as long as it is run.
class Operation {
 public:
  explicit Operation(const peer::Case& c) : case_(c) {}

  bnapiTensor* data() {
    const int64_t dims[] = {case_.n, case_.c, case_.h, case_.w};
    const int64_t last[] = {case_.h * case_.w * case_.c, 1, case_.w * case_.c, case_.c};
    return tensor(dims, 4, dtype_of(case_.dtype), case_.channels_last() ? last : nullptr, case_.data_bytes());
  }

  bnapiTensor* per_channel() { return tensor(&case_.c, 1, BNAPI_FLOAT, nullptr, case_.c * 4); }

  void plan(bnapiStatus (*run)(void*, uint64_t, bnapiOpExecutor*, bnapiStream),
            const std::function<bnapiStatus(uint64_t*, bnapiOpExecutor**)>& phase_one) {
    run_ = run;
    check(phase_one(&workspace_bytes_, &executor_));
    check(bnapiSetOpExecutorRepeatable(executor_));
    workspace_ = std::make_unique<peer::Buffer>(static_cast<int64_t>(workspace_bytes_));
  }

  void run() {
    check(run_(workspace_->data(), workspace_bytes_, executor_, nullptr));
    check(bnapiSynchronizeStream(nullptr));
  }

 private:
  bnapiTensor* tensor(const int64_t* dims, uint64_t rank, bnapiDataType dtype, const int64_t* strides,
                      int64_t bytes) {
    buffers_.push_back(std::make_unique<peer::Buffer>(bytes, dtype != BNAPI_FLOAT));
    bnapiTensor* created = bnapiCreateTensor(dims, rank, dtype, strides, 0, BNAPI_FORMAT_NCHW, dims, rank,
                                             buffers_.back()->data());
    if (created == nullptr) throw peer::Skip(bnapiGetRecentErrMsg());
    return created;
  }

  peer::Case case_;
  std::vector<std::unique_ptr<peer::Buffer>> buffers_;
  std::unique_ptr<peer::Buffer> workspace_;
  uint64_t workspace_bytes_ = 0;
  bnapiOpExecutor* executor_ = nullptr;
  bnapiStatus (*run_)(void*, uint64_t, bnapiOpExecutor*, bnapiStream) = nullptr;
};

peer::Run prepare(const peer::Case& c) {
  auto op = std::make_shared<Operation>(c);
  const double eps = 1e-5;
  const double momentum = 0.1;
  bnapiTensor* x = op->data();
  const auto vector = [&] { return op->per_channel(); };
  if (c.op == "forward_train" || c.op == "forward_eval") {
    op->plan(bnapiBatchNorm, [&](uint64_t* size, bnapiOpExecutor** executor) {
      return bnapiBatchNormGetWorkspaceSize(x, vector(), vector(), vector(), vector(),
                                            c.op == "forward_train", momentum, eps, op->data(), vector(),
                                            vector(), size, executor);
    });
  } else if (c.op == "backward") {
    const bool mask[] = {true, true, true};
    const bnapiBoolArray* all = bnapiCreateBoolArray(mask, 3);
    op->plan(bnapiBatchNormBackward, [&](uint64_t* size, bnapiOpExecutor** executor) {
      return bnapiBatchNormBackwardGetWorkspaceSize(op->data(), x, vector(), vector(), vector(), vector(),
                                                    vector(), true, eps, all, op->data(), vector(), vector(),
                                                    size, executor);
    });
  } else if (c.op == "elemt") {
    op->plan(bnapiBatchNormElemt, [&](uint64_t* size, bnapiOpExecutor** executor) {
      return bnapiBatchNormElemtGetWorkspaceSize(x, vector(), vector(), vector(), vector(), eps, op->data(),
                                                 size, executor);
    });
  } else if (c.op == "stats") {
    op->plan(bnapiBatchNormStats, [&](uint64_t* size, bnapiOpExecutor** executor) {
      return bnapiBatchNormStatsGetWorkspaceSize(x, eps, vector(), vector(), size, executor);
    });
  } else if (c.op == "reduce_backward") {
    op->plan(bnapiBatchNormReduceBackward, [&](uint64_t* size, bnapiOpExecutor** executor) {
      return bnapiBatchNormReduceBackwardGetWorkspaceSize(op->data(), x, vector(), vector(), vector(), true,
                                                          true, true, vector(), vector(), vector(), vector(),
                                                          size, executor);
    });
  } else {
    throw peer::Skip("unknown operation");
  }
  return [op] { op->run(); };
}

}  // namespace

int main() {
  return peer::serve(prepare);
}
