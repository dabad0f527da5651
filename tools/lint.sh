#!/bin/bash
# Formatting, style and types. With --fix, formatting is mended instead of reported.
# Runs every check, and ends non-zero if any found something.
set -uo pipefail
cd "$(dirname "$0")/.."
fix=${1:-}
status=0

check() {
  echo "== $1"
  shift
  "$@" || status=1
}

mapfile -t cpp_files < <(git ls-files '*.c' '*.cpp' '*.cc' '*.h' '*.hpp' '*.cu' '*.cuh')
if [ "$fix" = --fix ]; then
  check clang-format clang-format -i "${cpp_files[@]}"
  check "ruff format" ruff format .
  check "ruff check" ruff check --fix .
  exit $status
fi
check clang-format clang-format --dry-run -Werror "${cpp_files[@]}"
check "ruff format" ruff format --check --diff .
check "ruff check" ruff check .
check mypy mypy
check pyright pyright
mapfile -t all_files < <(git ls-files | grep -v ^LICENSE)
check codespell codespell "${all_files[@]}"
check "generated files" python csrc/ascend/generate.py --check
check "generated document" python docs/generate_operators.py --check
check "generated stub" python tools/make_stub.py --check
check "operators page" python docs/generate_operators.py --check
check "repository files" python tools/check_files.py
exit $status
