// What the descriptor handles stand for. Objects are immutable: changing a tensor's address or description puts a
// new object behind its handle, so whoever holds one can read it without a lock.
#pragma once

#include <cstdint>
#include <vector>

namespace bn {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // elements
  std::vector<int64_t> storage;
  int64_t offset = 0;  // elements
  int32_t dtype = -1;  // a bnapiDataType value, or whatever else the caller gave
  int32_t format = -1;
  void* data = nullptr;

  int rank() const { return static_cast<int>(shape.size()); }
  bool empty() const {
    for (int64_t extent : shape) {
      if (extent == 0) return true;
    }
    return false;
  }
};

struct Scalar {
  int32_t dtype = -1;
  alignas(16) unsigned char bytes[16] = {};  // the value as stored by its type
};

struct BoolArray {
  std::vector<unsigned char> values;
};

}  // namespace bn
