// Walks over the elements of a block of channels, unit by unit, as the schedule cuts them.
//
// Both walks offer the same to the kernels: seek() and next() choose the unit; read() makes the inputs of all channels
// of the block available, from the unit on, and says for how many units; first() is the run of these units of the
// block's first channel, to_channel() goes on to the next; write() delivers the outputs.
#pragma once

#include <type_traits>

#include "backends/cpu/reduce.h"
#include "backends/cpu/schedule.h"
#include "backends/cpu/simd.h"

namespace bn::cpu::BN_ISA {

BN_INLINE const DataArg& data_arg(const Program& p, int tensor) {
  switch (tensor) {
    case kX:
      return p.x;
    case kDy:
      return p.dy;
    case kExtra:
      return p.extra;
    case kOut:
      return p.out;
    default:
      return p.grad_residual;
  }
}

// Address of the view's element 0 of a channel.
BN_INLINE char* channel_address(const Program& p, const Schedule& s, int tensor, int64_t channel) {
  const DataView& view = s.views[tensor];
  if (view.dtype == DType::kUndefined) return nullptr;
  return static_cast<char*>(data_arg(p, tensor).data) +
         (view.offset + channel * view.channel_stride) * dtype_size(view.dtype);
}

// A position in the first `dims` loop dimensions, with its offset in every tensor.
class Odometer {
 public:
  BN_INLINE Odometer(const Schedule& s, int dims) : schedule_(s), dims_(dims) {}

  BN_INLINE void seek(int64_t position) {
    for (int t = 0; t < kTensors; ++t)
      offset[t] = 0;
    for (int d = dims_ - 1; d >= 0; --d) {
      index_[d] = position % schedule_.extents[d];
      position /= schedule_.extents[d];
      for (int t = 0; t < kTensors; ++t)
        offset[t] += index_[d] * schedule_.views[t].strides[d];
    }
  }

  BN_INLINE void next() {
    for (int d = dims_ - 1; d >= 0; --d) {
      const int64_t steps = ++index_[d] < schedule_.extents[d] ? 1 : 1 - schedule_.extents[d];
      for (int t = 0; t < kTensors; ++t)
        offset[t] += steps * schedule_.views[t].strides[d];
      if (steps == 1) return;
      index_[d] = 0;
    }
  }

  // One past the last position of a single dimension: where the remainder of channels-last data begins.
  BN_INLINE void seek_end() {
    for (int t = 0; t < kTensors; ++t)
      offset[t] = schedule_.extents[0] * schedule_.views[t].strides[0];
  }

  int64_t offset[kTensors];

 private:
  const Schedule& schedule_;
  const int dims_;
  int64_t index_[kMaxLoopDims] = {};
};

// Rows as they lie in memory.
template <class Element>
class DirectWalk {
 public:
  using Elem = Element;

  BN_INLINE DirectWalk(const Program& p, const Schedule& s)
      : program_(p), schedule_(s), rows_(s, s.loop_dims - 1) {}

  BN_INLINE void begin(int64_t channel, int64_t channels) {
    channels_ = channels;
    for (int t = 0; t < kTensors; ++t)
      base_[t] = reinterpret_cast<Elem*>(channel_address(program_, schedule_, t, channel));
  }
  BN_INLINE void seek(int64_t unit) {
    rows_.seek(unit / schedule_.units_per_row);
    piece_ = unit % schedule_.units_per_row;
  }
  // What is left of the row.
  BN_INLINE int64_t read(unsigned, int64_t most) {
    const int64_t left = schedule_.units_per_row - piece_;
    for (int t = 0; t < kTensors; ++t)
      row_[t] = base_[t] + rows_.offset[t];
    if (schedule_.extents[schedule_.loop_dims - 1] >= kAhead<Elem>) {
      Odometer next = rows_;
      next.next();
      for (int t = 0; t < kTensors; ++t)
        next_row_[t] = base_[t] + next.offset[t];
    }
    return left < most ? left : most;
  }
  BN_INLINE void write(unsigned) {}
  BN_INLINE void next(int64_t units) {
    piece_ += units;
    if (piece_ < schedule_.units_per_row) return;
    piece_ = 0;
    rows_.next();
  }
  // `used` says which tensors matter to the caller: a constant, so that the others cost nothing.
  BN_INLINE Run<Elem> first(int64_t units, unsigned used) {
    const int64_t begin = piece_ * schedule_.unit_length;
    const int64_t length = schedule_.extents[schedule_.loop_dims - 1];
    int64_t end = begin + units * schedule_.unit_length;
    if (end > length) end = length;
    jumps_ = end == length && length >= kAhead<Elem>;
    Run<Elem> run;
    run.count = end - begin;
    for (int t = 0; t < kTensors; ++t)
      run.at.at[t] = row_[t] + begin;
    set_next(run, 0, used);
    return run;
  }
  BN_INLINE void to_channel(Run<Elem>& run, int64_t c, unsigned used) const {
#pragma GCC unroll 8
    for (int t = 0; t < kTensors; ++t) {
      if (used >> t & 1) run.at.at[t] += schedule_.views[t].channel_stride;
    }
    set_next(run, c, used);
  }

 private:
  // What follows: the rest of the row, or the next channel's row, or after the last channel the first one's next.
  // It is only asked for ahead of time, so for short rows, which lie close together, what lies behind them will do.
  BN_INLINE void set_next(Run<Elem>& run, int64_t c, unsigned used) const {
#pragma GCC unroll 8
    for (int t = 0; t < kTensors; ++t) {
      if (used >> t & 1) run.next.at[t] = run.at.at[t] + run.count;
    }
    if (!jumps_) return;
#pragma GCC unroll 8
    for (int t = 0; t < kTensors; ++t) {
      if ((used >> t & 1) == 0) continue;
      run.next.at[t] = c + 1 < channels_ ? run.at.at[t] + schedule_.views[t].channel_stride : next_row_[t];
    }
  }

  const Program& program_;
  const Schedule& schedule_;
  Odometer rows_;
  Elem* base_[kTensors];
  Elem* row_[kTensors];
  Elem* next_row_[kTensors];
  int64_t channels_ = 0;
  int64_t piece_ = 0;
  bool jumps_ = false;  // does a run not begin where the one before it ends?
};

// ---- packing -------------------------------------------------------------------------------------------------

template <int kBytes>
struct RawOf;
template <>
struct RawOf<1> {
  using type = uint8_t;
};
template <>
struct RawOf<2> {
  using type = uint16_t;
};
template <>
struct RawOf<4> {
  using type = uint32_t;
};
template <>
struct RawOf<8> {
  using type = uint64_t;
};

// Moves `count` positions from `position` on, of `channels` channels, between a tensor (whose first channel is at
// `tensor`) and rows of `pitch` elements, one per channel.
template <bool kToRows, class Raw>
void move_elements(Raw* tensor, const DataView& view, const Schedule& s, int64_t position, int64_t count,
                   int64_t channels, Raw* rows, int64_t pitch) {
  const int last = s.loop_dims - 1;
  int64_t index[kMaxLoopDims];
  Raw* at = tensor;
  for (int d = last; d >= 0; --d) {
    index[d] = position % s.extents[d];
    position /= s.extents[d];
    at += index[d] * view.strides[d];
  }
  const int64_t step = view.strides[last];
  const int64_t channel_step = view.channel_stride;
  const bool channels_inside = (channel_step < 0 ? -channel_step : channel_step) < (step < 0 ? -step : step);
  for (int64_t done = 0; done < count;) {
    int64_t run = s.extents[last] - index[last];
    if (run > count - done) run = count - done;
    if (channels_inside) {
      for (int64_t i = 0; i < run; ++i) {
        Raw* in = at + i * step;
        Raw* out = rows + done + i;
        for (int64_t c = 0; c < channels; ++c) {
          if constexpr (kToRows) {
            out[c * pitch] = in[c * channel_step];
          } else {
            in[c * channel_step] = out[c * pitch];
          }
        }
      }
    } else {
      for (int64_t c = 0; c < channels; ++c) {
        Raw* in = at + c * channel_step;
        Raw* out = rows + done + c * pitch;
        if (step == 1) {
          memcpy(kToRows ? out : in, kToRows ? in : out, static_cast<size_t>(run) * sizeof(Raw));
        } else {
          for (int64_t i = 0; i < run; ++i) {
            if constexpr (kToRows) {
              out[i] = in[i * step];
            } else {
              in[i * step] = out[i];
            }
          }
        }
      }
    }
    done += run;
    // On to the next run.
    at -= index[last] * step;
    index[last] = 0;
    for (int d = last - 1; d >= 0; --d) {
      at += view.strides[d];
      if (++index[d] < s.extents[d]) break;
      at -= index[d] * view.strides[d];
      index[d] = 0;
    }
  }
}

template <bool kToRows>
void move_elements(char* tensor, const DataView& view, const Schedule& s, int64_t position, int64_t count,
                   int64_t channels, void* rows, int64_t pitch) {
  switch (dtype_size(view.dtype)) {
    case 1:
      return move_elements<kToRows>(reinterpret_cast<uint8_t*>(tensor), view, s, position, count, channels,
                                    static_cast<uint8_t*>(rows), pitch);
    case 2:
      return move_elements<kToRows>(reinterpret_cast<uint16_t*>(tensor), view, s, position, count, channels,
                                    static_cast<uint16_t*>(rows), pitch);
    case 4:
      return move_elements<kToRows>(reinterpret_cast<uint32_t*>(tensor), view, s, position, count, channels,
                                    static_cast<uint32_t*>(rows), pitch);
    default:
      return move_elements<kToRows>(reinterpret_cast<uint64_t*>(tensor), view, s, position, count, channels,
                                    static_cast<uint64_t*>(rows), pitch);
  }
}

// Both arrays have room for `count` rounded up to whole vectors.
template <class To, class From>
BN_INLINE void widen_elements(To* to, const From* from, int64_t count) {
  if constexpr (sizeof(To) == 8) {
    if constexpr (sizeof(From) == 8) {
      memcpy(to, from, static_cast<size_t>(count) * sizeof(To));
    } else if constexpr (sizeof(From) == 1 || std::is_same<From, int32_t>::value) {
      for (int64_t i = 0; i < count; ++i)
        to[i] = static_cast<double>(from[i]);
    } else {
      for (int64_t i = 0; i < count; i += kDoubles)
        store_raw(to + i, load_f64(from + i));
    }
  } else {
    for (int64_t i = 0; i < count; i += kFloats)
      store_raw(to + i, load_f32<kFloats>(from + i));
  }
}

template <class To, class From>
BN_INLINE void narrow_elements(To* to, const From* from, int64_t count) {
  if constexpr (std::is_integral<To>::value) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<To>(static_cast<int32_t>(from[i]));
  } else if constexpr (sizeof(From) == 4) {
    for (int64_t i = 0; i < count; i += kFloats)
      store(to + i, load_raw<VF>(from + i));
  } else {
    for (int64_t i = 0; i < count; ++i)
      to[i] = bn::narrow<To>(from[i]);
  }
}

// Pieces of the tensors, each with its own strides and type, copied to rows of `Buffer` (float or double).
template <class Buffer>
class PackedWalk {
 public:
  using Elem = Buffer;

  BN_INLINE PackedWalk(const Program& p, const Schedule& s) : program_(p), schedule_(s) {}

  BN_INLINE void begin(int64_t channel, int64_t channels) {
    channel_ = channel;
    channels_ = channels;
  }
  BN_INLINE void seek(int64_t unit) { unit_ = unit; }
  BN_INLINE void next(int64_t) { ++unit_; }
  BN_INLINE Run<Buffer> first(int64_t, unsigned) {
    Run<Buffer> run;
    for (int t = 0; t < kTensors; ++t)
      run.at.at[t] = rows_[t];
    run.next = run.at;
    run.count = count();
    return run;
  }
  BN_INLINE void to_channel(Run<Buffer>& run, int64_t, unsigned) const {
    for (int t = 0; t < kTensors; ++t)
      run.at.at[t] += schedule_.unit_length;
  }

  int64_t read(unsigned tensors, int64_t) {
    for (int t = 0; t < kTensors; ++t) {
      if (tensors >> t & 1) read_tensor(t);
    }
    return 1;
  }
  void write(unsigned tensors) {
    for (int t = 0; t < kTensors; ++t) {
      if (tensors >> t & 1) write_tensor(t);
    }
  }

 private:
  BN_INLINE int64_t count() const {
    const int64_t left = program_.count - unit_ * schedule_.unit_length;
    return left < schedule_.unit_length ? left : schedule_.unit_length;
  }

  template <class From>
  void widen_rows(int t) {
    for (int64_t c = 0; c < channels_; ++c)
      widen_elements(rows_[t] + c * schedule_.unit_length,
                     reinterpret_cast<const From*>(raw_) + c * schedule_.unit_length, count());
  }
  template <class To>
  void narrow_rows(int t) {
    for (int64_t c = 0; c < channels_; ++c)
      narrow_elements(reinterpret_cast<To*>(raw_) + c * schedule_.unit_length,
                      rows_[t] + c * schedule_.unit_length, count());
  }

  void read_tensor(int t) {
    const DataView& view = schedule_.views[t];
    const bool as_it_is = view.dtype == schedule_.elem;
    move_elements<true>(channel_address(program_, schedule_, t, channel_), view, schedule_,
                        unit_ * schedule_.unit_length, count(), channels_,
                        as_it_is ? static_cast<void*>(rows_[t]) : raw_, schedule_.unit_length);
    if (as_it_is) return;
    switch (view.dtype) {
      case DType::kFloat32:
        return widen_rows<float>(t);
      case DType::kFloat16:
        return widen_rows<Half>(t);
      case DType::kBFloat16:
        return widen_rows<BFloat16>(t);
      default:
        break;
    }
    if constexpr (sizeof(Buffer) == 8) {
      switch (view.dtype) {
        case DType::kInt8:
          return widen_rows<int8_t>(t);
        case DType::kUInt8:
          return widen_rows<uint8_t>(t);
        case DType::kInt32:
          return widen_rows<int32_t>(t);
        default:
          break;
      }
    }
  }

  void write_tensor(int t) {
    const DataView& view = schedule_.views[t];
    const bool as_it_is = view.dtype == schedule_.elem;
    if (!as_it_is) {
      switch (view.dtype) {
        case DType::kFloat32:
          narrow_rows<float>(t);
          break;
        case DType::kFloat16:
          narrow_rows<Half>(t);
          break;
        case DType::kBFloat16:
          narrow_rows<BFloat16>(t);
          break;
        default:
          break;
      }
      if constexpr (sizeof(Buffer) == 8) {
        switch (view.dtype) {
          case DType::kInt8:
            narrow_rows<int8_t>(t);
            break;
          case DType::kUInt8:
            narrow_rows<uint8_t>(t);
            break;
          case DType::kInt32:
            narrow_rows<int32_t>(t);
            break;
          default:
            break;
        }
      }
    }
    move_elements<false>(channel_address(program_, schedule_, t, channel_), view, schedule_,
                         unit_ * schedule_.unit_length, count(), channels_,
                         as_it_is ? static_cast<void*>(rows_[t]) : raw_, schedule_.unit_length);
  }

  const Program& program_;
  const Schedule& schedule_;
  int64_t channel_ = 0;
  int64_t channels_ = 0;
  int64_t unit_ = 0;
  alignas(64) Buffer rows_[kTensors][kPackElements];
  alignas(64) char raw_[kPackElements * sizeof(double)];
};

}  // namespace bn::cpu::BN_ISA
