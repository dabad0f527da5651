// The kernels of one instruction set, behind one function.
#pragma once

#include "backends/cpu/schedule.h"

namespace bn::cpu {

using RunTask = void (*)(const Program& program, const Schedule& schedule, char* workspace, int stage,
                         int64_t task);

namespace baseline {
void run(const Program& program, const Schedule& schedule, char* workspace, int stage, int64_t task);
}
namespace avx2 {
void run(const Program& program, const Schedule& schedule, char* workspace, int stage, int64_t task);
}
namespace avx512 {
void run(const Program& program, const Schedule& schedule, char* workspace, int stage, int64_t task);
}

}  // namespace bn::cpu
