/* Written by csrc/ascend/generate.py; do not edit. */
#ifndef ACLNN_ACLNN_UTIL_H_
#define ACLNN_ACLNN_UTIL_H_

#if defined(__GNUC__)
#define ACLNN_API __attribute__((visibility("default")))
#else
#define ACLNN_API
#endif

#endif /* ACLNN_ACLNN_UTIL_H_ */
