// CUDA's vector types, with the alignment they have on the device.
#pragma once

#define BN_SIMT_VECTOR_TYPES(name, scalar, align2, align4)                          \
  struct name##1 {                                                                  \
    scalar x;                                                                       \
  };                                                                                \
  struct name##3 {                                                                  \
    scalar x, y, z;                                                                 \
  };                                                                                \
  struct alignas(align2) name##2 {                                                  \
    scalar x, y;                                                                    \
  };                                                                                \
  struct alignas(align4) name##4 {                                                  \
    scalar x, y, z, w;                                                              \
  };                                                                                \
  inline constexpr name##1 make_##name##1(scalar x) {                               \
    return {x};                                                                     \
  }                                                                                 \
  inline constexpr name##2 make_##name##2(scalar x, scalar y) {                     \
    return {x, y};                                                                  \
  }                                                                                 \
  inline constexpr name##3 make_##name##3(scalar x, scalar y, scalar z) {           \
    return {x, y, z};                                                               \
  }                                                                                 \
  inline constexpr name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) { \
    return {x, y, z, w};                                                            \
  }

BN_SIMT_VECTOR_TYPES(char, signed char, 2, 4)
BN_SIMT_VECTOR_TYPES(uchar, unsigned char, 2, 4)
BN_SIMT_VECTOR_TYPES(short, short, 4, 8)
BN_SIMT_VECTOR_TYPES(ushort, unsigned short, 4, 8)
BN_SIMT_VECTOR_TYPES(int, int, 8, 16)
BN_SIMT_VECTOR_TYPES(uint, unsigned int, 8, 16)
BN_SIMT_VECTOR_TYPES(longlong, long long, 16, 16)
BN_SIMT_VECTOR_TYPES(ulonglong, unsigned long long, 16, 16)
BN_SIMT_VECTOR_TYPES(float, float, 8, 16)
BN_SIMT_VECTOR_TYPES(double, double, 16, 16)

#undef BN_SIMT_VECTOR_TYPES

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
};
