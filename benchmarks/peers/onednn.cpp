// oneDNN's batch normalization as a peer. Built once against each release that is compared.
//
// LAYOUT channels_last is nhwc. LAYOUT contiguous is tried as nchw and as the blocked form that oneDNN itself would
// choose (any), and the faster of the two counts.

#include <dnnl.hpp>

#include "peer.h"

namespace {

using dnnl::memory;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

memory::data_type dtype_of(const std::string& name) {
  if (name == "float32") return memory::data_type::f32;
  if (name == "bfloat16") return memory::data_type::bf16;
  if (name == "float16") return memory::data_type::f16;
  throw peer::Skip("dtype");
}

struct Call {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
};

peer::Run prepare_format(const peer::Case& c, memory::format_tag tag) {
  using dnnl::normalization_flags;
  const memory::dims dims = {c.n, c.c, c.h, c.w};
  const memory::desc data(dims, dtype_of(c.dtype), tag);
  const memory::desc per_channel({c.c}, memory::data_type::f32, memory::format_tag::a);
  const auto affine = normalization_flags::use_scale | normalization_flags::use_shift;
  const float epsilon = 1e-5f;
  auto call = std::make_shared<Call>();
  auto stream = std::make_shared<dnnl::stream>(engine());
  const auto give = [&](int name, const memory::desc& desc) {
    memory m(desc, engine());
    // Values do not change the time; zeros would make subnormals unlikely and divisions odd, so ones.
    const size_t bytes = desc.get_size();
    if (desc.get_data_type() == memory::data_type::f32) {
      float* values = static_cast<float*>(m.get_data_handle());
      for (size_t i = 0; i < bytes / 4; ++i)
        values[i] = 1.0f + static_cast<float>(i % 7) * 0.125f;
    } else {
      uint16_t* values = static_cast<uint16_t*>(m.get_data_handle());
      for (size_t i = 0; i < bytes / 2; ++i)
        values[i] = static_cast<uint16_t>(0x3C00u + i % 7);
    }
    call->arguments[name] = m;
  };

  const bool train = c.op == "forward_train";
  if (train || c.op == "forward_eval") {
    auto flags = affine;
    if (!train) flags = flags | normalization_flags::use_global_stats;
    const auto kind = train ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    const dnnl::batch_normalization_forward::primitive_desc desc(engine(), kind, data, data, epsilon, flags);
    call->primitive = dnnl::batch_normalization_forward(desc);
    give(DNNL_ARG_DST, data);
  } else if (c.op == "backward") {
    const dnnl::batch_normalization_forward::primitive_desc hint(engine(), dnnl::prop_kind::forward_training,
                                                                 data, data, epsilon, affine);
    const dnnl::batch_normalization_backward::primitive_desc desc(engine(), dnnl::prop_kind::backward, data,
                                                                  data, data, epsilon, affine, hint);
    call->primitive = dnnl::batch_normalization_backward(desc);
    give(DNNL_ARG_DIFF_DST, data);
    give(DNNL_ARG_DIFF_SRC, data);
    give(DNNL_ARG_DIFF_SCALE, per_channel);
    give(DNNL_ARG_DIFF_SHIFT, per_channel);
  } else {
    throw peer::Skip("no such operation in oneDNN");
  }
  give(DNNL_ARG_SRC, data);
  for (int name : {DNNL_ARG_MEAN, DNNL_ARG_VARIANCE, DNNL_ARG_SCALE, DNNL_ARG_SHIFT})
    give(name, per_channel);
  return [call, stream] {
    call->primitive.execute(*stream, call->arguments);
    stream->wait();
  };
}

peer::Run prepare(const peer::Case& c) {
  using Tag = memory::format_tag;
  std::vector<Tag> tags = {Tag::nhwc};
  if (!c.channels_last()) tags = {Tag::nchw, Tag::nChw16c, Tag::nChw8c};
  peer::Run best;
  double best_seconds = 0;
  std::string why = "no format";
  for (Tag tag : tags) {
    try {
      peer::Run run = prepare_format(c, tag);
      for (int i = 0; i < 3; ++i)
        run();
      const double seconds = peer::measure(run, 0.02);
      if (!best || seconds < best_seconds) {
        best = run;
        best_seconds = seconds;
      }
    } catch (const std::exception& error) {
      why = error.what();
    }
  }
  if (!best) throw peer::Skip(why);
  return best;
}

}  // namespace

int main() {
  return peer::serve(prepare);
}
