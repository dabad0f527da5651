// aclnnBatchNorm in training: two channels normalized with their own statistics, the running ones updated.

#include "aclnnop/aclnn_batch_norm.h"
#include "ascend.h"

int main() {
  Session session;
  const Tensor<float> input({2, 2, 3}, {1, 2, 6, 0.5, -1.5, 4, 3, -2, 2, 2.5, 0, -1}, ACL_FLOAT,
                            ACL_FORMAT_NCL);
  const Tensor<float> weight({2}, {1.5, -0.5});
  const Tensor<float> bias({2}, {0.25, 1});
  const Tensor<float> runningMean({2}, {10, -4});
  const Tensor<float> runningVar({2}, {2, 0.5});
  const Tensor<float> output({2, 2, 3}, std::vector<float>(12), ACL_FLOAT, ACL_FORMAT_NCL);
  const Tensor<float> saveMean({2}, {0, 0});
  const Tensor<float> saveInvstd({2}, {0, 0});

  const bool training = true;
  const double momentum = 0.2, eps = 1e-3;
  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnBatchNormGetWorkspaceSize(input, weight, bias, runningMean, runningVar, training, momentum, eps,
                                       output, saveMean, saveInvstd, &workspaceSize, &executor));
  run(aclnnBatchNorm, workspaceSize, executor, session.stream);

  output.print("output");
  saveMean.print("saveMean");
  saveInvstd.print("saveInvstd");
  runningMean.print("runningMean");
  runningVar.print("runningVar");
  return 0;
}
