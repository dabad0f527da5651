// What the compiled peers of the benchmark share: the command loop and the clock.
//
// A peer is a process that the driver (benchmarks/run.py) talks to in lines:
//     prepare OP DTYPE LAYOUT N C H W   makes data and plans;     answers "ok", or "skip REASON"
//     time SECONDS                      repeats the operation for about that long; answers seconds per run
//     quit
// The driver asks its peers in turn, so that all of them see the same machine at the same moments.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace peer {

struct Case {
  std::string op, dtype, layout;
  int64_t n = 0, c = 0, h = 0, w = 0;

  int64_t elements() const { return n * c * h * w; }
  int64_t element_bytes() const { return dtype == "float32" ? 4 : 2; }
  int64_t data_bytes() const { return elements() * element_bytes(); }
  bool channels_last() const { return layout == "channels_last"; }
};

// Thrown by prepare for what a peer does not offer.
struct Skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// 64-byte aligned memory, filled with small bit patterns that are normal numbers in every type.
class Buffer {
 public:
  explicit Buffer(int64_t bytes, bool half = false) : bytes_(std::max<int64_t>(bytes, 64)) {
    data_ = static_cast<char*>(std::aligned_alloc(4096, (bytes_ + 4095) / 4096 * 4096));
    if (data_ == nullptr) throw std::bad_alloc();
    uint32_t state = 12345;
    if (half) {
      for (int64_t i = 0; i < bytes_ / 2; ++i) {
        state = state * 1664525u + 1013904223u;
        reinterpret_cast<uint16_t*>(data_)[i] =
            static_cast<uint16_t>(0x3C00u | (state >> 24 & 0x7Fu) | (state >> 16 & 0x8000u));
      }
    } else {
      for (int64_t i = 0; i < bytes_ / 4; ++i) {
        state = state * 1664525u + 1013904223u;
        reinterpret_cast<float*>(data_)[i] =
            static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f + 0.5f;
      }
    }
  }
  ~Buffer() { std::free(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* data() { return data_; }

 private:
  int64_t bytes_;
  char* data_;
};

using Run = std::function<void()>;

// Median seconds of one run, over as many runs as fit.
inline double measure(const Run& run, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  const auto begin = Clock::now();
  double total = 0;
  // Short operations are timed in batches: the clock itself takes some 30 ns.
  int batch = 1;
  do {
    const auto t0 = Clock::now();
    for (int i = 0; i < batch; ++i)
      run();
    const double elapsed = std::chrono::duration<double>(Clock::now() - t0).count();
    times.push_back(elapsed / batch);
    if (elapsed < 20e-6) batch *= 2;
    total = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (total < seconds || times.size() < 3);
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

inline int serve(const std::function<Run(const Case&)>& prepare) {
  Run run;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "quit") return 0;
    if (command == "prepare") {
      run = nullptr;
      Case c;
      words >> c.op >> c.dtype >> c.layout >> c.n >> c.c >> c.h >> c.w;
      try {
        run = prepare(c);
        for (int i = 0; i < 3; ++i)
          run();
        std::cout << "ok" << std::endl;
      } catch (const std::exception& error) {
        run = nullptr;
        std::cout << "skip " << error.what() << std::endl;
      }
    } else if (command == "time") {
      double seconds = 0.05;
      words >> seconds;
      if (run == nullptr) {
        std::cout << "skip not prepared" << std::endl;
      } else {
        std::cout << measure(run, seconds) << std::endl;
      }
    } else {
      std::cout << "skip unknown command" << std::endl;
    }
  }
  return 0;
}

}  // namespace peer
