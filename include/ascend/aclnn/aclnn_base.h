/* What every operator header needs, and the optional start and end of aclnn. */
#ifndef ACLNN_ACLNN_BASE_H_
#define ACLNN_ACLNN_BASE_H_

#ifdef __cplusplus
#include <cstdint>
#include <cstdlib>
#endif

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Optional, with or without aclInit; any path is accepted and ignored. Both return 0. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif
#endif /* ACLNN_ACLNN_BASE_H_ */
