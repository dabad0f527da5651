#!/bin/sh
# Stops with the names of the packages to install when this machine cannot build the project.
# The Makefile runs it before it makes its virtual environment.
python=${1:-python3}
missing=

need() { missing="$missing $1"; }

command -v g++ >/dev/null 2>&1 || command -v c++ >/dev/null 2>&1 || command -v "${CXX:-none}" >/dev/null 2>&1 || need g++
command -v cc >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || command -v "${CC:-none}" >/dev/null 2>&1 || need gcc
if ! command -v "$python" >/dev/null 2>&1; then
  need python3
  need python3-venv
  need python3-dev
else
  if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    echo "pybn_api needs Python 3.10 or newer; $python is $("$python" -V 2>&1)." >&2
    echo "Name another one: make PYTHON=python3.12 ..." >&2
    exit 1
  fi
  "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || need python3-venv
  "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' || need python3-dev
fi

if [ -n "$missing" ]; then
  echo "This machine lacks what the build needs. Install:$missing" >&2
  if command -v apt-get >/dev/null 2>&1; then
    echo "    sudo apt-get install$missing" >&2
  fi
  exit 1
fi
