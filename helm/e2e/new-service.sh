#!/usr/bin/env bash
# From an empty directory to a service that answers on a cluster, with nothing but the package's tarball and npm's registry:
# new, two modules, tests, start, image, install. Prints what each command took, and fails where all took longer than
# E2E_LIMIT_SECONDS (300).
# Usage: helm/e2e/new-service.sh KUBECONFIG, with node, npm, kubectl, helm 4 and curl on PATH, and the variables of helm/e2e.sh.
#   E2E_BUILD_IMAGE    builds an image, called with a directory and a tag; docker build
#   E2E_LOAD_IMAGE     hands an image to the cluster, called with its tag; kind load docker-image
#   E2E_BESIDE         stands before commands that speak to the cluster; nothing
set -euo pipefail
kubeconfig=${1:?Usage: helm/e2e/new-service.sh KUBECONFIG}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
image=${E2E_IMAGE_NAME:-localhost/shop}:e2e-$$
rows=() total=0 group=
trap clean_up EXIT

clean_up() {
  local code=$?
  set +e
  [ -z "$group" ] || kill -- "-$group" 2>/dev/null
  rm -rf "$work"
  exit "$code"
}

# What npm and this repository set is no part of a newcomer's terminal.
for name in $(compgen -e | grep -E '^(npm_(lifecycle|package)_.*|INIT_CWD|NODE_ENV|NODE_OPTIONS|LOG_LEVEL)$' || true); do unset "$name"; done
export PATH=$(tr : '\n' <<<"$PATH" | grep -v '/node_modules/\.bin$' | grep -v node-gyp-bin | paste -sd:) NO_COLOR=1

# step TITLE COMMAND...: runs a command, and tells what it took; what it printed only where it failed.
step() {
  local from seconds
  from=$(date +%s.%N)
  "${@:2}" >"$work/output" 2>&1 || { echo "FAILED: $1" >&2; tail -60 "$work/output" >&2; exit 1; }
  seconds=$(awk -v from="$from" -v to="$(date +%s.%N)" 'BEGIN { printf "%.1f", to - from }')
  total=$(awk -v a="$total" -v b="$seconds" 'BEGIN { printf "%.1f", a + b }')
  rows+=("| \`$1\` | $seconds s |")
  echo "$1: $seconds s"
}

build_image() { if [ -n "${E2E_BUILD_IMAGE:-}" ]; then "$E2E_BUILD_IMAGE" "$@"; else docker build --tag "$2" "$1"; fi; }
load_image() { if [ -n "${E2E_LOAD_IMAGE:-}" ]; then "$E2E_LOAD_IMAGE" "$1"; else kind load docker-image "$1"; fi; }

free_port() { node -e 'const s = net.createServer().listen(0, () => { console.log(s.address().port); s.close(); })'; }

# Starts the service as a person does, and asks it for the module's list.
start_and_ask() {
  local port url
  port=$(free_port) url=http://127.0.0.1:$port
  PORT=$port INTERNAL_PORT=$(free_port) setsid npm start >"$work/start.log" 2>&1 &
  group=$!
  for _ in $(seq 300); do
    if curl -sf -m 2 "$url/api/v1/products/paginated" >"$work/list"; then break; fi
    kill -0 "$group" 2>/dev/null || break
    sleep 0.2
  done
  kill -- "-$group" 2>/dev/null || true
  wait "$group" 2>/dev/null || true
  group=
  grep -q '"total":0' "$work/list" || { cat "$work/start.log"; return 1; }
}

# The package, made of the files of this repository in a copy of it.
tarball=$(cd "$root" && node_modules/.bin/node -e "import('./test/package/pack.ts').then(async ({ pack }) => console.log((await pack('$work')).tarball))")
mkdir "$work/empty"
cd "$work/empty"
step 'slipway new shop --yes' npx --yes "--package=$tarball" slipway new shop --yes
cd shop
step 'slipway module product name:string price:int category:ref' npx slipway module product name:string price:int category:ref
step 'npm test' npm test
step 'npm start, and a request' start_and_ask
step 'image' build_image . "$image"
load_image "$image" >"$work/output" 2>&1 || { tail -20 "$work/output" >&2; exit 1; }
# shellcheck disable=SC2086 # the words of a command
step 'helm install, and requests' ${E2E_BESIDE:-} "$root/helm/e2e/deploy-service.sh" "$kubeconfig" "$image" "$work/empty/shop"

printf '\n| Command | Took |\n|---|---|\n'
printf '%s\n' "${rows[@]}"
echo "| all | $total s |"
awk -v total="$total" -v limit="${E2E_LIMIT_SECONDS:-300}" 'BEGIN { exit total > limit }' || { echo "FAILED: expected at most ${E2E_LIMIT_SECONDS:-300} s" >&2; exit 1; }
