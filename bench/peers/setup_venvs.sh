#!/bin/sh
# Makes one virtualenv per entry of peers.json under $BENCH_HOME/venvs (default <tempdir>/durable-bench).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
home=${BENCH_HOME:-${TMPDIR:-/tmp}/durable-bench}
mkdir -p "$home/venvs" "$home/data"
python3 - "$here/peers.json" <<'PY' | while IFS="$(printf '\t')" read -r venv pkgs; do
import json, sys
for p in json.load(open(sys.argv[1])).values():
    if p["packages"]:
        print(p["venv"], " ".join(p["packages"]), sep="\t")
PY
  [ -x "$home/venvs/$venv/bin/python" ] || python3 -m venv "$home/venvs/$venv"
  # shellcheck disable=SC2086
  set -f; "$home/venvs/$venv/bin/python" -m pip install -q --disable-pip-version-check $pkgs; set +f
  echo "$venv: $pkgs"
done
