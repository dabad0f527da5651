// Capture of streams into graphs.
#include <algorithm>

#include "engine.h"

namespace bn_simt {
namespace {

// Every forked stream's last node must be one that the origin waits for.
bool all_joined(const Capture& capture) {
  std::vector<bool> joined(capture.nodes.size(), false);
  std::vector<size_t> left = capture.origin->capture_after;
  while (!left.empty()) {
    const size_t node = left.back();
    left.pop_back();
    if (joined[node]) continue;
    joined[node] = true;
    for (const size_t other : capture.nodes[node].after)
      left.push_back(other);
  }
  for (const CUstream_st* stream : capture.streams) {
    for (const size_t node : stream->capture_after) {
      if (!joined[node]) return false;
    }
  }
  return true;
}

void end(const std::shared_ptr<Capture>& capture) {
  Engine& e = engine();
  for (cudaStream_t stream : e.streams) {
    if (stream->capture != capture) continue;
    stream->capture = nullptr;
    stream->capture_after.clear();
  }
  for (cudaEvent_t event : e.events) {
    if (event->capture == capture) event->capture = nullptr;
  }
  e.captures.erase(std::remove(e.captures.begin(), e.captures.end(), capture), e.captures.end());
}

}  // namespace
}  // namespace bn_simt

using namespace bn_simt;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return api([=](Lock&) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->is_legacy)
      return refuse(cudaErrorStreamCaptureUnsupported, "the null stream cannot be captured");
    if (stream->capture) return refuse(cudaErrorInvalidValue, "the stream is being captured already");
    stream->capture = std::make_shared<Capture>();
    stream->capture->mode = mode;
    stream->capture->origin = stream;
    stream->capture->thread = thread_number();
    stream->capture->streams = {stream};
    stream->capture_after.clear();
    engine().captures.push_back(stream->capture);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return api([=](Lock&) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    if (!stream->capture || stream->capture->origin != stream) return cudaErrorStreamCaptureUnmatched;
    *graph = nullptr;
    const std::shared_ptr<Capture> capture = stream->capture;
    const bool joined = all_joined(*capture);
    end(capture);
    if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
    if (!joined) return cudaErrorStreamCaptureUnjoined;
    *graph = new CUgraph_st;
    for (Capture::Node& node : capture->nodes)
      (*graph)->nodes.push_back(std::move(node.run));
    engine().graphs.insert(*graph);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return api([=](Lock&) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr || status == nullptr) return cudaErrorInvalidResourceHandle;
    *status = !stream->capture           ? cudaStreamCaptureStatusNone
              : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, size_t* count) {
  return api([=](Lock&) {
    if (engine().graphs.count(graph) == 0) return cudaErrorInvalidValue;
    *count = graph->nodes.size();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return api([=](Lock&) {
    if (engine().graphs.count(graph) == 0) return cudaErrorInvalidValue;
    *exec = new CUgraphExec_st{*graph, current_device()};
    engine().graph_execs.insert(*exec);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  return api([=](Lock&) {
    cudaStream_t stream = find_stream(handle);
    if (stream == nullptr || engine().graph_execs.count(exec) == 0) return cudaErrorInvalidResourceHandle;
    const std::vector<std::function<cudaError_t()>> nodes = exec->graph.nodes;
    return enqueue(stream, [nodes] {
      for (const auto& run : nodes) {
        if (const cudaError_t error = run ? run() : cudaSuccess) return error;
      }
      return cudaSuccess;
    });
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return api([=](Lock&) {
    if (engine().graph_execs.erase(exec) == 0) return cudaErrorInvalidValue;
    delete exec;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return api([=](Lock&) {
    if (engine().graphs.erase(graph) == 0) return cudaErrorInvalidValue;
    delete graph;
    return cudaSuccess;
  });
}
}
