// aclnnBatchNormElemtBackward: the input gradient from sums over two ranks, which held 3 and 5 elements.

#include "aclnnop/aclnn_batch_norm_elemt_backward.h"
#include "ascend.h"

int main() {
  Session session;
  const Tensor<float> gradOut({2, 2}, {1, 2, -3, 0.5});
  const Tensor<float> input({2, 2}, {0, 4, 2, -1});
  const Tensor<float> mean({2}, {1, 1.5});
  const Tensor<float> invstd({2}, {0.8f, 2});
  const Tensor<float> weight({2}, {1, -2});
  const Tensor<float> sumDy({2}, {4, -6});
  const Tensor<float> sumDyXmu({2}, {2, 1});
  const Tensor<int32_t> counter({2}, {3, 5}, ACL_INT32);
  const Tensor<float> gradInput({2, 2}, {0, 0, 0, 0});

  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnBatchNormElemtBackwardGetWorkspaceSize(gradOut, input, mean, invstd, weight, sumDy, sumDyXmu,
                                                    counter, gradInput, &workspaceSize, &executor));
  run(aclnnBatchNormElemtBackward, workspaceSize, executor, session.stream);

  gradInput.print("gradInput");
  return 0;
}
