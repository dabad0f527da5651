// aclnnBatchNormReduce: the same eight numbers once as NCHW and once as NHWC, where the channel is the last axis.

#include "aclnnop/aclnn_batch_norm_reduce.h"
#include "ascend.h"

int main() {
  Session session;
  for (const aclFormat format : {ACL_FORMAT_NCHW, ACL_FORMAT_NHWC}) {
    const Tensor<float> x({1, 2, 2, 2}, {1, -2, 0.5, 4, 3, 3, -1, 0.25}, ACL_FLOAT, format);
    const Tensor<float> sum({2}, {0, 0});
    const Tensor<float> squareSum({2}, {0, 0});

    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK(aclnnBatchNormReduceGetWorkspaceSize(x, sum, squareSum, &workspaceSize, &executor));
    run(aclnnBatchNormReduce, workspaceSize, executor, session.stream);

    sum.print("sum");
    squareSum.print("squareSum");
  }
  return 0;
}
