// Stands in for the CUDA backend in builds without it.

#include "backends/backend.h"

namespace bn {

Backend* cuda_backend(std::string* why) {
  *why = "built without CUDA";
  return nullptr;
}

}  // namespace bn
