#!/bin/bash
# Runs the samples of one build tree, C first.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
export PYTHONPATH=$build/python

for program in reduce_backward; do
  [ -x "$build/bin/$program" ] || continue
  echo
  echo "== samples/c/$program.c"
  "$build/bin/$program"
done
for program in reduce_backward_ascend; do
  [ -x "$build/bin/$program" ] || continue
  echo
  echo "== samples/cpp/$program.cpp (written for aclnn)"
  "$build/bin/$program"
done
for script in samples/python/*.py; do
  [ -e "$script" ] || continue
  echo
  echo "== $script"
  python "$script"
done
