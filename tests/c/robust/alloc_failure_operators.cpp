// Failing allocations in both phases of every operator.

#include <initializer_list>
#include <memory>
#include <string>

#include "alloc_failure.h"

namespace alloc_failure {
namespace {

constexpr int64_t kChannels = 4;
constexpr int64_t kRanks = 3;

// The tensors of one call, all filled with ones: which values come out is the subject of other tests. Kept by the
// case's functions; tensors are made before each call, since finalize ends them.
class Tensors {
 public:
  explicit Tensors(bnapiDataType dtype = BNAPI_FLOAT) : data_dtype_(dtype) {}
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;
  ~Tensors() { drop(); }

  bnapiTensor* data() { return make({2, kChannels, 2, 3}, data_dtype_); }
  bnapiTensor* channel() { return make({kChannels}, BNAPI_FLOAT); }
  bnapiTensor* per_rank() { return make({kRanks, kChannels}, BNAPI_FLOAT); }
  bnapiTensor* counts() { return make({kRanks}, BNAPI_FLOAT); }
  bnapiBoolArray* mask(std::initializer_list<bool> values) {
    bool copy[4];
    std::copy(values.begin(), values.end(), copy);
    masks_.push_back(bnapiCreateBoolArray(copy, values.size()));
    return masks_.back();
  }
  bnapiScalar* scalar(float value) {
    scalars_.push_back(bnapiCreateScalar(&value, BNAPI_FLOAT));
    return scalars_.back();
  }
  bnapiScalar* scalar(int32_t value) {
    scalars_.push_back(bnapiCreateScalar(&value, BNAPI_INT32));
    return scalars_.back();
  }

  void drop() {
    for (bnapiTensor* tensor : tensors_)
      CHECK_OK(bnapiDestroyTensor(tensor));
    for (bnapiBoolArray* mask : masks_)
      CHECK_OK(bnapiDestroyBoolArray(mask));
    for (bnapiScalar* scalar : scalars_)
      CHECK_OK(bnapiDestroyScalar(scalar));
    tensors_.clear();
    masks_.clear();
    scalars_.clear();
    memory_.clear();
  }

 private:
  bnapiTensor* make(const std::vector<int64_t>& dims, bnapiDataType dtype) {
    constexpr size_t kElements = 2 * kChannels * 2 * 3;
    memory_.push_back(std::make_unique<float[]>(kElements));
    std::fill_n(memory_.back().get(), kElements, 1.0f);
    tensors_.push_back(bnapiCreateTensor(dims.data(), dims.size(), dtype, nullptr, 0,
                                         dims.size() == 4 ? BNAPI_FORMAT_NCHW : BNAPI_FORMAT_ND, dims.data(),
                                         dims.size(), memory_.back().get()));
    return tensors_.back();
  }

  bnapiDataType data_dtype_;
  std::vector<std::unique_ptr<float[]>> memory_;
  std::vector<bnapiTensor*> tensors_;
  std::vector<bnapiBoolArray*> masks_;
  std::vector<bnapiScalar*> scalars_;
};

using PhaseOne = std::function<bnapiStatus(uint64_t*, bnapiOpExecutor**)>;
using PhaseTwo = bnapiStatus (*)(void*, uint64_t, bnapiOpExecutor*, bnapiStream);

// Binds tensors to an operator's first phase.
using Bind = PhaseOne (*)(Tensors&);

struct Operator {
  const char* name;
  Bind bind;
  PhaseTwo run;
  bnapiDataType dtype = BNAPI_FLOAT;
};

const Operator kOperators[] = {
    {"BatchNorm",
     [](Tensors& t) -> PhaseOne {
       return [x = t.data(), w = t.channel(), b = t.channel(), rm = t.channel(), rv = t.channel(),
               y = t.data(), m = t.channel(), i = t.channel()](uint64_t* size, bnapiOpExecutor** executor) {
         return bnapiBatchNormGetWorkspaceSize(x, w, b, rm, rv, true, 0.1, 1e-5, y, m, i, size, executor);
       };
     },
     bnapiBatchNorm},
    {"BatchNormAct",
     [](Tensors& t) -> PhaseOne {
       return
           [x = t.data(), w = t.channel(), b = t.channel(), rm = t.channel(), rv = t.channel(), r = t.data(),
            y = t.data(), m = t.channel(), i = t.channel()](uint64_t* size, bnapiOpExecutor** executor) {
             return bnapiBatchNormActGetWorkspaceSize(x, w, b, rm, rv, r, true, 0.1, 1e-5,
                                                      BNAPI_ACTIVATION_RELU, y, m, i, size, executor);
           };
     },
     bnapiBatchNormAct},
    {"BatchNormActBackward",
     [](Tensors& t) -> PhaseOne {
       return [dy = t.data(), x = t.data(), y = t.data(), w = t.channel(), m = t.channel(), i = t.channel(),
               mask = t.mask({true, true, true, true}), dx = t.data(), dw = t.channel(), db = t.channel(),
               dr = t.data()](uint64_t* size, bnapiOpExecutor** executor) {
         return bnapiBatchNormActBackwardGetWorkspaceSize(dy, x, y, w, nullptr, nullptr, m, i, true, 1e-5,
                                                          BNAPI_ACTIVATION_RELU, mask, dx, dw, db, dr, size,
                                                          executor);
       };
     },
     bnapiBatchNormActBackward},
    {"BatchNormBackward",
     [](Tensors& t) -> PhaseOne {
       return [dy = t.data(), x = t.data(), w = t.channel(), m = t.channel(), i = t.channel(),
               mask = t.mask({true, true, true}), dx = t.data(), dw = t.channel(),
               db = t.channel()](uint64_t* size, bnapiOpExecutor** executor) {
         return bnapiBatchNormBackwardGetWorkspaceSize(dy, x, w, nullptr, nullptr, m, i, true, 1e-5, mask, dx,
                                                       dw, db, size, executor);
       };
     },
     bnapiBatchNormBackward},
    {"FastBatchNormBackward",
     [](Tensors& t) -> PhaseOne {
       return [dy = t.data(), x = t.data(), w = t.channel(), m = t.channel(), i = t.channel(),
               mask = t.mask({true, true, true}), dx = t.data(), dw = t.channel(),
               db = t.channel()](uint64_t* size, bnapiOpExecutor** executor) {
         return bnapiFastBatchNormBackwardGetWorkspaceSize(dy, x, w, nullptr, nullptr, m, i, true, 1e-5, mask,
                                                           1, dx, dw, db, size, executor);
       };
     },
     bnapiFastBatchNormBackward},
    {"BatchNormStats",
     [](Tensors& t) -> PhaseOne {
       return [x = t.data(), m = t.channel(), i = t.channel()](uint64_t* size, bnapiOpExecutor** executor) {
         return bnapiBatchNormStatsGetWorkspaceSize(x, 1e-5, m, i, size, executor);
       };
     },
     bnapiBatchNormStats},
    {"BatchNormElemt",
     [](Tensors& t) -> PhaseOne {
       return [x = t.data(), w = t.channel(), b = t.channel(), m = t.channel(), i = t.channel(),
               y = t.data()](uint64_t* size, bnapiOpExecutor** executor) {
         return bnapiBatchNormElemtGetWorkspaceSize(x, w, b, m, i, 1e-5, y, size, executor);
       };
     },
     bnapiBatchNormElemt},
    {"BatchNormGatherStatsWithCounts",
     [](Tensors& t) -> PhaseOne {
       return
           [x = t.data(), m = t.per_rank(), i = t.per_rank(), rm = t.channel(), rv = t.channel(),
            n = t.counts(), ma = t.channel(), ia = t.channel()](uint64_t* size, bnapiOpExecutor** executor) {
             return bnapiBatchNormGatherStatsWithCountsGetWorkspaceSize(x, m, i, rm, rv, 0.1, 1e-5, n, ma, ia,
                                                                        size, executor);
           };
     },
     bnapiBatchNormGatherStatsWithCounts},
    {"BatchNormElemtBackward",
     [](Tensors& t) -> PhaseOne {
       return
           [dy = t.data(), x = t.data(), m = t.channel(), i = t.channel(), w = t.channel(), s = t.channel(),
            q = t.channel(), n = t.counts(), dx = t.data()](uint64_t* size, bnapiOpExecutor** executor) {
             return bnapiBatchNormElemtBackwardGetWorkspaceSize(dy, x, m, i, w, s, q, n, dx, size, executor);
           };
     },
     bnapiBatchNormElemtBackward},
    {"SyncBatchNormGatherStats",
     [](Tensors& t) -> PhaseOne {
       return [s = t.per_rank(), q = t.per_rank(), n = t.counts(), m = t.channel(), v = t.channel(),
               bm = t.channel(), bi = t.channel()](uint64_t* size, bnapiOpExecutor** executor) {
         return bnapiSyncBatchNormGatherStatsGetWorkspaceSize(s, q, n, m, v, 0.1f, 1e-5f, bm, bi, size,
                                                              executor);
       };
     },
     bnapiSyncBatchNormGatherStats},
    {"BatchNormReduce",
     [](Tensors& t) -> PhaseOne {
       return [x = t.data(), s = t.channel(), q = t.channel()](uint64_t* size, bnapiOpExecutor** executor) {
         return bnapiBatchNormReduceGetWorkspaceSize(x, s, q, size, executor);
       };
     },
     bnapiBatchNormReduce},
    {"BatchNormReduceBackward",
     [](Tensors& t) -> PhaseOne {
       return
           [dy = t.data(), x = t.data(), m = t.channel(), i = t.channel(), w = t.channel(), s = t.channel(),
            q = t.channel(), dw = t.channel(), db = t.channel()](uint64_t* size, bnapiOpExecutor** executor) {
             return bnapiBatchNormReduceBackwardGetWorkspaceSize(dy, x, m, i, w, true, true, true, s, q, dw,
                                                                 db, size, executor);
           };
     },
     bnapiBatchNormReduceBackward},
    {"QuantizedBatchNorm",
     [](Tensors& t) -> PhaseOne {
       return [x = t.data(), m = t.channel(), v = t.channel(), is = t.scalar(0.05f), iz = t.scalar(3),
               os = t.scalar(0.06f), oz = t.scalar(-7), w = t.channel(), b = t.channel(),
               y = t.data()](uint64_t* size, bnapiOpExecutor** executor) {
         return bnapiQuantizedBatchNormGetWorkspaceSize(x, m, v, is, iz, os, oz, w, b, 1e-5f, y, size,
                                                        executor);
       };
     },
     bnapiQuantizedBatchNorm, BNAPI_INT8},
};

// What a case's functions share.
struct State {
  explicit State(const Operator& o) : op(o), name(o.name), tensors(o.dtype) {}
  const Operator& op;
  const std::string name;
  Tensors tensors;
  PhaseOne plan;
};

}  // namespace

std::vector<Case> operator_cases() {
  std::vector<Case> cases;
  for (const Operator& op : kOperators) {
    const auto state = std::make_shared<State>(op);
    const auto ready = [state](Fixture& f) {
      state->plan = state->op.bind(state->tensors);
      f.size = 12345;
      f.executor = nullptr;
    };
    const auto drop = [state](Fixture&) {
      state->plan = nullptr;
      state->tensors.drop();
    };
    cases.push_back({op.name, BNAPI_ERR_INNER_CREATE_EXECUTOR, ready,
                     [state](Fixture& f) { return state->plan(&f.size, &f.executor); },
                     [drop](Fixture& f) {
                       CHECK_OK(bnapiDestroyOpExecutor(f.executor));
                       drop(f);
                     },
                     [drop](Fixture& f) {
                       CHECK(f.size == 12345 && f.executor == nullptr);
                       drop(f);
                     }});
    cases.push_back(
        {op.name, BNAPI_ERR_RUNTIME_ERROR,
         [state, ready](Fixture& f) {
           ready(f);
           CHECK_OK(state->plan(&f.size, &f.executor));
           CHECK(f.size <= f.workspace.size);
         },
         [state](Fixture& f) { return state->op.run(f.workspace.memory, f.size, f.executor, nullptr); },
         [drop](Fixture& f) {
           CHECK_OK(bnapiSynchronizeStream(nullptr));
           drop(f);
         },
         [state, drop](Fixture& f) {
           // A single-use executor is spent, also by a failure.
           CHECK_STATUS(BNAPI_ERR_INNER_NULLPTR,
                        state->op.run(f.workspace.memory, f.size, f.executor, nullptr));
           drop(f);
         }});
  }
  return cases;
}

}  // namespace alloc_failure
