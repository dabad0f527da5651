// aclnnBatchNormBackward in training, all three gradients; the saved statistics are those of batch_norm_ascend.cpp.

#include "aclnnop/aclnn_batch_norm_backward.h"
#include "ascend.h"

int main() {
  Session session;
  const Tensor<float> gradOut({2, 2, 3}, {0.5, -1, 2, 1, 1, -3, -0.25, 4, 0, 0.5, -2, 1.5});
  const Tensor<float> input({2, 2, 3}, {1, 2, 6, 0.5, -1.5, 4, 3, -2, 2, 2.5, 0, -1});
  const Tensor<float> weight({2}, {1.5, -0.5});
  const Tensor<float> saveMean({2}, {2, 0.75});
  const Tensor<float> saveInvstd({2}, {0.420046964f, 0.517768806f});
  const Tensor<float> gradInput({2, 2, 3}, std::vector<float>(12));
  const Tensor<float> gradWeight({2}, {0, 0});
  const Tensor<float> gradBias({2}, {0, 0});

  const std::array<bool, 3> wanted = {{true, true, true}};
  const aclBoolArray* outputMask = aclCreateBoolArray(wanted.data(), wanted.size());
  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnBatchNormBackwardGetWorkspaceSize(gradOut, input, weight, nullptr, nullptr, saveMean, saveInvstd,
                                               true, 1e-3, outputMask, gradInput, gradWeight, gradBias,
                                               &workspaceSize, &executor));
  run(aclnnBatchNormBackward, workspaceSize, executor, session.stream);

  gradInput.print("gradInput");
  gradWeight.print("gradWeight");
  gradBias.print("gradBias");
  CHECK(aclDestroyBoolArray(outputMask));
  return 0;
}
