// aclnnFastBatchNormBackward in inference, without any optional tensor: mean 0, variance 1, weight 1.

#include "aclnnop/aclnn_fast_batch_norm_backward.h"
#include "ascend.h"

int main() {
  Session session;
  const Tensor<float> gradOut({4, 1}, {1, -1, 0.5, 2});
  const Tensor<float> input({4, 1}, {1, 2, 4, 9});
  const Tensor<float> gradInput({4, 1}, {0, 0, 0, 0});
  const Tensor<float> gradWeight({1}, {0});
  const Tensor<float> gradBias({1}, {0});

  const std::array<bool, 3> wanted = {{true, true, true}};
  const aclBoolArray* outputMask = aclCreateBoolArray(wanted.data(), wanted.size());
  const bool training = false;
  const double eps = 0.21;
  const int version = 1;
  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnFastBatchNormBackwardGetWorkspaceSize(gradOut, input, nullptr, nullptr, nullptr, nullptr,
                                                   nullptr, training, eps, outputMask, version, gradInput,
                                                   gradWeight, gradBias, &workspaceSize, &executor));
  run(aclnnFastBatchNormBackward, workspaceSize, executor, session.stream);

  gradInput.print("gradInput");
  gradWeight.print("gradWeight");
  gradBias.print("gradBias");
  CHECK(aclDestroyBoolArray(outputMask));
  return 0;
}
