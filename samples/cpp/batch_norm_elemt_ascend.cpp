// aclnnBatchNormElemt: normalizes with statistics that are given.

#include "aclnnop/aclnn_batch_norm_elemt.h"
#include "ascend.h"

int main() {
  Session session;
  const Tensor<float> input({2, 3}, {1, -2, 0.5, 4, 3, -1});
  const Tensor<float> weight({3}, {2, -1, 0.3f});
  const Tensor<float> bias({3}, {0, 1, -1});
  const Tensor<float> mean({3}, {1, 2, -1});
  const Tensor<float> invstd({3}, {0.5, 4, 10});
  const Tensor<float> output({2, 3}, std::vector<float>(6));

  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnBatchNormElemtGetWorkspaceSize(input, weight, bias, mean, invstd, 1e-5, output, &workspaceSize,
                                            &executor));
  run(aclnnBatchNormElemt, workspaceSize, executor, session.stream);

  output.print("output");
  return 0;
}
