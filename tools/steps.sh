# Sourced by .ci/run and tools/nightly/run.sh: named steps with a time budget each, and a summary at the end.
# All steps run even after a failure, so that one run shows everything.
# shellcheck shell=bash

failed=()
summary=()

# step SECONDS NAME COMMAND...: runs a command, or an exported function, within its budget.
step() {
  local budget=$1 name=$2 started=$SECONDS status=0 verdict=ok
  shift 2
  echo
  echo "==== $name (budget $budget s)"
  timeout --kill-after=30 "$budget" bash -c '"$@"' step "$@" || status=$?
  case $status in
    0) ;;
    124 | 137) verdict="OVER BUDGET" ;;
    *) verdict=FAILED ;;
  esac
  [ "$verdict" = ok ] || failed+=("$name")
  summary+=("$(printf '%-40s %5d s of %5d  %s' "$name" $((SECONDS - started)) "$budget" "$verdict")")
}

# Prints the summary; its status is that of the whole run.
steps_end() {
  echo
  echo "==== summary"
  printf '%s\n' "${summary[@]}"
  [ ${#failed[@]} = 0 ] && return 0
  echo "failed: ${failed[*]}"
  return 1
}
