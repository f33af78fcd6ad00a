#!/usr/bin/env bash
# Everything that must hold before a change is published, in one command: lint, types, tests, a smoke release.
# Uses the environment of $PYTHON (default: .venv/bin/python); arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
if ! "$python" -c 'import ruff, mypy, pytest' 2>/dev/null; then
  echo "verify.sh: $python lacks what it needs: .venv/bin/pip install -e '.[test,dev]', or PYTHON=... scripts/verify.sh" >&2
  exit 2
fi
step() { printf '\n== %s\n' "$1" >&2; }

step lint
"$python" -m ruff check .
step types
"$python" -m mypy
step tests
"$python" -m pytest "$@"
step 'smoke release: generate, audit, verify, export, gate; then a stranger proves it again'
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
PYTHONPATH="$PWD" "$python" -m proceval stage=release recheck=all difficulty=easy count=1 seed=smoke \
  outputs="$home/outputs" release="$home/release" tracker=off
(cd "$home" && "$python" -I release/recheck.py)
step 'all of it holds'
