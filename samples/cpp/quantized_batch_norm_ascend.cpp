// aclnnQuantizedBatchNorm on unsigned bytes: dequantize, normalize, requantize, with saturation at both ends.

#include "aclnnop/aclnn_quantized_batch_norm.h"
#include "ascend.h"

int main() {
  Session session;
  const Tensor<uint8_t> input({1, 2, 1, 2}, {10, 200, 0, 255}, ACL_UINT8, ACL_FORMAT_NCHW);
  const Tensor<float> mean({2}, {1, -2});
  const Tensor<float> var({2}, {4, 0.25});
  const Tensor<float> weight({2}, {1.5, 4});
  const Tensor<float> bias({2}, {0, 0.3f});
  const Tensor<uint8_t> output({1, 2, 1, 2}, {1, 1, 1, 1}, ACL_UINT8, ACL_FORMAT_NCHW);

  float scales[2] = {0.1f, 0.05f};
  int32_t zeroPoints[2] = {128, 10};
  const aclScalar* inputScale = aclCreateScalar(&scales[0], ACL_FLOAT);
  const aclScalar* outputScale = aclCreateScalar(&scales[1], ACL_FLOAT);
  const aclScalar* inputZeroPoint = aclCreateScalar(&zeroPoints[0], ACL_INT32);
  const aclScalar* outputZeroPoint = aclCreateScalar(&zeroPoints[1], ACL_INT32);

  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnQuantizedBatchNormGetWorkspaceSize(input, mean, var, inputScale, inputZeroPoint, outputScale,
                                                outputZeroPoint, weight, bias, 1e-5f, output, &workspaceSize,
                                                &executor));
  run(aclnnQuantizedBatchNorm, workspaceSize, executor, session.stream);

  output.print("output");
  for (const aclScalar* scalar : {inputScale, outputScale, inputZeroPoint, outputZeroPoint}) {
    CHECK(aclDestroyScalar(scalar));
  }
  return 0;
}
