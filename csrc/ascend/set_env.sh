# Source this file: it makes the Ascend-compatible libraries beside it known to build files and to the loader.
# It works in bash, zsh and dash (in dash, from its own folder, or with ASCEND_HOME_PATH set beforehand).
if [ -n "${BASH_SOURCE:-}" ]; then
  _bn_ascend_script="${BASH_SOURCE}"
elif [ -n "${ZSH_VERSION:-}" ]; then
  eval '_bn_ascend_script="${(%):-%x}"'
else
  _bn_ascend_script="${ASCEND_HOME_PATH:-$PWD}/set_env.sh"
fi
_bn_ascend_root="$(cd "$(dirname "${_bn_ascend_script}")" && pwd)"
if [ -d "${_bn_ascend_root}/lib64" ]; then
  export ASCEND_TOOLKIT_HOME="${_bn_ascend_root}"
  export ASCEND_HOME_PATH="${_bn_ascend_root}"
  export ASCEND_OPP_PATH="${_bn_ascend_root}/opp"
  export LD_LIBRARY_PATH="${_bn_ascend_root}/lib64${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}"
else
  echo "set_env.sh: there is no ${_bn_ascend_root}/lib64" >&2
fi
unset _bn_ascend_script _bn_ascend_root
