#!/usr/bin/env bash
# Runs a test on a cluster of this machine alone: starts the cluster, tests, and takes it down. Needs the binaries of
# Kubernetes in $KUBE_CACHE and the scripts that build images and start clusters in $CLUSTER_TOOLS; where they are missing it
# says so and does nothing.
# Usage: helm/e2e/local.sh [chart | load-tests | new-service]: helm/e2e.sh or helm/e2e/load-tests.sh with the image of this
# tree, or helm/e2e/new-service.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=${KUBE_CACHE:-$HOME/.cache/local-kube}
tools=$(realpath -m "${CLUSTER_TOOLS:-../shared/tools}")
test=${1:-chart}
image=localhost/slipway:e2e
k6_image=localhost/k6:e2e
skip() { echo "No end-to-end test on a cluster: $1."; exit 0; }

for tool in kubelet kubectl helm k6; do [ -x "$cache/bin/$tool" ] || skip "$cache/bin/$tool is not there"; done
for script in image/build.sh kube/up.sh; do [ -x "$tools/$script" ] || skip "$tools/$script is not there"; done
for command in buildah podman ip nsenter; do command -v "$command" >/dev/null || skip "$command is not installed"; done
[ "$(id -u)" = 0 ] || skip 'a cluster on this machine needs root'
if ip netns list | grep -q '^kube\b'; then skip 'a cluster is running already'; fi

# An image of k6 that needs no registry: its binary alone.
k6_of() {
  local container
  container=$(buildah from scratch) &&
    buildah copy -q "$container" "$1" /usr/bin/k6 >/dev/null &&
    buildah config --entrypoint '["/usr/bin/k6"]' "$container" &&
    buildah commit -q --rm "$container" "$2" >/dev/null
}

log=.cache/e2e.log
mkdir -p .cache
export PATH="$PWD/node_modules/.bin:$PATH" KUBE_CACHE=$cache E2E_HOST_ADDRESS=10.99.0.1
trap '"$tools/kube/down.sh"' EXIT
# Joined by &&, because a shell forgets `set -e` in what stands before ||.
{
  "$tools/image/base-images.sh" &&
    { [ "$test" = new-service ] || { timeout 900 "$tools/image/build.sh" . "$image" && k6_of "$cache/bin/k6" "$k6_image"; }; } &&
    timeout 120 "$tools/kube/up.sh" &&
    { [ "$test" = new-service ] || { timeout 120 "$tools/kube/load-image.sh" "$image" && timeout 120 "$tools/kube/load-image.sh" "$k6_image"; }; }
} >"$log" 2>&1 || { tail -20 "$log"; exit 1; }
kubeconfig=$cache/run/admin.kubeconfig
case $test in
  chart) E2E_K6_IMAGE=$k6_image timeout 1200 "$tools/kube/in.sh" helm/e2e.sh "$kubeconfig" "$image" ;;
  load-tests) E2E_K6_IMAGE=$k6_image timeout 1200 "$tools/kube/in.sh" helm/e2e/load-tests.sh "$kubeconfig" "$image" ;;
  new-service)
    E2E_BUILD_IMAGE=$tools/image/build.sh E2E_LOAD_IMAGE=$tools/kube/load-image.sh E2E_BESIDE=$tools/kube/in.sh \
      timeout 1200 helm/e2e/new-service.sh "$kubeconfig"
    ;;
  *) echo "Expected chart, load-tests or new-service, got $test." >&2; exit 2 ;;
esac
