// The ceiling: the least memory traffic that an operation needs, and nothing else. Every input is read once with
// plain loads, every output written once with streaming stores, by as many threads as the library uses. What a real
// implementation is compared with, measured in the same run on the same buffers' sizes.
//
// Compiled with -march=native, since it stands for the machine.

#include <immintrin.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "peer.h"

namespace {

constexpr int kMaxStreams = 3;

struct Job {
  const char* in[kMaxStreams] = {};
  char* out[kMaxStreams] = {};
  int inputs = 0;
  int outputs = 0;
  int64_t bytes = 0;  // of each stream
};

// One pass of one thread over its part: loads are summed so that they cannot be left out.
void pass(const Job& job, int64_t begin, int64_t end) {
#if defined(__AVX512F__)
  using V = __m512i;
  const auto load = [](const char* p) { return _mm512_load_si512(p); };
  const auto add = [](V a, V b) { return _mm512_xor_si512(a, b); };
  const auto stream = [](char* p, V v) { _mm512_stream_si512(reinterpret_cast<V*>(p), v); };
  V zero = _mm512_setzero_si512();
#else
  using V = __m256i;
  const auto load = [](const char* p) { return _mm256_load_si256(reinterpret_cast<const V*>(p)); };
  const auto add = [](V a, V b) { return _mm256_xor_si256(a, b); };
  const auto stream = [](char* p, V v) { _mm256_stream_si256(reinterpret_cast<V*>(p), v); };
  V zero = _mm256_setzero_si256();
#endif
  constexpr int64_t kWidth = sizeof(V);
  V sum[4] = {zero, zero, zero, zero};
  for (int64_t i = begin; i + 4 * kWidth <= end; i += 4 * kWidth) {
    for (int u = 0; u < 4; ++u) {
      V v = load(job.in[0] + i + u * kWidth);
      for (int k = 1; k < job.inputs; ++k)
        v = add(v, load(job.in[k] + i + u * kWidth));
      for (int k = 0; k < job.outputs; ++k)
        stream(job.out[k] + i + u * kWidth, v);
      sum[u] = add(sum[u], v);
    }
  }
  _mm_sfence();
  volatile V sink = add(add(sum[0], sum[1]), add(sum[2], sum[3]));
  (void)sink;
}

// Threads that stay hot between passes, as the best implementation's would.
class Team {
 public:
  explicit Team(int threads) : threads_(threads) {
    for (int t = 1; t < threads; ++t)
      std::thread([this, t] { work(t); }).detach();
  }

  void run(const Job& job) {
    job_ = &job;
    left_.store(threads_ - 1, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    part(0);
    while (left_.load(std::memory_order_acquire) != 0)
      _mm_pause();
  }

 private:
  void part(int t) {
    const int64_t step = (job_->bytes / threads_ + 4095) / 4096 * 4096;
    pass(*job_, std::min(t * step, job_->bytes), std::min((t + 1) * step, job_->bytes));
  }

  void work(int t) {
    uint64_t seen = 0;
    for (;;) {
      // Spin for a while, then yield: an idle ceiling must not disturb the other peers.
      for (int spins = 0; round_.load(std::memory_order_acquire) == seen; ++spins) {
        if (spins < 20000) {
          _mm_pause();
        } else {
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
      }
      ++seen;
      part(t);
      left_.fetch_sub(1, std::memory_order_release);
    }
  }

  int threads_;
  const Job* job_ = nullptr;
  std::atomic<uint64_t> round_{0};
  std::atomic<int> left_{0};
};

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  static Team* const team = new Team(threads);
  return peer::serve([&](const peer::Case& c) -> peer::Run {
    // Streams read and written: forward x -> y, backward x, dy -> dx, reductions read only.
    auto job = std::make_shared<Job>();
    if (c.op == "forward_train" || c.op == "forward_eval" || c.op == "elemt") {
      job->inputs = 1, job->outputs = 1;
    } else if (c.op == "backward") {
      job->inputs = 2, job->outputs = 1;
    } else if (c.op == "reduce_backward") {
      job->inputs = 2;
    } else if (c.op == "stats") {
      job->inputs = 1;
    } else {
      throw peer::Skip("unknown operation");
    }
    auto buffers = std::make_shared<std::vector<std::unique_ptr<peer::Buffer>>>();
    for (int k = 0; k < job->inputs + job->outputs; ++k) {
      buffers->push_back(std::make_unique<peer::Buffer>(c.data_bytes()));
      char* data = static_cast<char*>(buffers->back()->data());
      if (k < job->inputs) {
        job->in[k] = data;
      } else {
        job->out[k - job->inputs] = data;
      }
    }
    job->bytes = std::max<int64_t>(c.data_bytes() / 256 * 256, 256);
    return [job, buffers] { team->run(*job); };
  });
}
