// Devices, streams and events: what is pending, and what runs it.
//
// Nothing runs when it is enqueued. An operation runs when something waits for it, after those it depends on: the
// one before it in its stream, and events waited for. One mutex guards everything, kernels included.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cuda_runtime_api.h"

namespace bn_simt {

using Lock = std::unique_lock<std::mutex>;

struct Op {
  int device = 0;
  std::vector<std::shared_ptr<Op>> after;
  std::function<cudaError_t()> run;  // empty: only a mark in the stream
  bool is_host_function = false;     // run without the lock: it may wait for other threads
  bool running = false;
  bool done = false;
  std::chrono::steady_clock::time_point time;  // when it was done
};
using OpPtr = std::shared_ptr<Op>;

struct Capture;

}  // namespace bn_simt

struct CUstream_st {
  int device = 0;
  unsigned flags = 0;
  bool is_legacy = false;
  bn_simt::OpPtr last;
  std::shared_ptr<bn_simt::Capture> capture;
  std::vector<size_t> capture_after;  // nodes that the next captured node depends on
};

struct CUevent_st {
  int device = 0;
  unsigned flags = 0;
  bn_simt::OpPtr op;                          // the latest mark; null if never recorded
  std::shared_ptr<bn_simt::Capture> capture;  // recorded in a capturing stream
  std::vector<size_t> capture_nodes;
};

struct CUgraph_st {
  std::vector<std::function<cudaError_t()>> nodes;  // in an order that respects their dependencies
};
struct CUgraphExec_st {
  CUgraph_st graph;
  int device = 0;
};

namespace bn_simt {

struct Capture {
  struct Node {
    std::function<cudaError_t()> run;
    std::vector<size_t> after;
  };
  cudaStreamCaptureMode mode;
  cudaStream_t origin;
  uint64_t thread;  // that began it
  bool invalid = false;
  std::vector<Node> nodes;
  std::vector<cudaStream_t> streams;
};

struct Device {
  CUstream_st legacy;  // the null stream
  cudaError_t sticky = cudaSuccess;
};

struct Engine {
  std::mutex mutex;
  std::condition_variable host_function_done;
  std::vector<std::unique_ptr<Device>> devices;
  std::deque<OpPtr> pending;  // in the order enqueued
  std::set<cudaStream_t> streams;
  std::set<cudaEvent_t> events;
  std::set<cudaGraph_t> graphs;
  std::set<cudaGraphExec_t> graph_execs;
  std::vector<std::shared_ptr<Capture>> captures;
  std::string message;  // of the last failure
  bool loud = true;
};

Engine& engine();

// Every entry point of the runtime: locks, reports what is wrong with the driver, the device, or this process, and
// remembers the result for cudaGetLastError.
cudaError_t api(const std::function<cudaError_t(Lock&)>& body);
// The same for calls that work without a device and leave no trace.
cudaError_t refuse(cudaError_t error, const char* format, ...) __attribute__((format(printf, 2, 3)));

int current_device();
uint64_t thread_number();

// The stream behind a handle, or null if it is none.
cudaStream_t find_stream(cudaStream_t handle);
// Appends to a stream, or to the graph that it is being captured into.
cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> run, bool is_host_function = false,
                    const OpPtr& also_after = nullptr);
// Runs an operation and all that it depends on. The device's error, if it has one.
cudaError_t complete(Lock& lock, const OpPtr& op);
cudaError_t complete_device(Lock& lock, int device);
// Runs one operation that `op` needs; false if there is none to run.
bool run_one(Lock& lock, const OpPtr& op);
// An error for calls that must not be made while a stream is captured; they spoil the capture.
cudaError_t check_not_capturing();
cudaError_t check_not_captured(cudaStream_t stream);

}  // namespace bn_simt
