#!/usr/bin/env bash
# Brings the tools that the chart and the load tests need into .cache/tools, once: what is on PATH if it is new enough,
# else built from the Go module proxy. What cannot be had is named at the end; its tests are skipped.
# Usage: scripts/tools.sh [helm] [kubeconform] [schemas] [actionlint] [k6] [promtool] [prometheus] [nats-server] [versitygw]; all without arguments.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$PWD/.cache/tools
bin=$tools/bin
mkdir -p "$bin"
export PATH="$bin:$PATH:${KUBE_CACHE:-$HOME/.cache/local-kube}/bin"
skipped=()

skip() { skipped+=("$1: $2"); }

# use NAME PATTERN COMMAND...: takes what is on PATH, if what COMMAND says about its version matches.
use() {
  local name=$1 pattern=$2 path
  path=$(type -P "$name") || return 1
  "${@:3}" 2>&1 | grep -Eq "$pattern" || return 1
  [ "$path" = "$bin/$name" ] || ln -sf "$path" "$bin/$name"
  echo "$name: $path"
}

# build NAME PACKAGE MODULE VERSION: by a main module of its own, because not every go.mod allows `go install`.
build() {
  local name=$1 package=$2 module=$3 version=$4 source=$tools/build/$1
  command -v go >/dev/null || { skip "$name" "Go is not installed, so $module@$version cannot be built"; return 0; }
  echo "$name: building $module@$version"
  mkdir -p "$source"
  printf 'module tools\n\ngo 1.26\n\nrequire %s %s\n' "$module" "$version" >"$source/go.mod"
  (cd "$source" && CGO_ENABLED=0 GOFLAGS=-mod=mod go build -trimpath -ldflags '-s -w' -o "$bin/$name" "$package") >"$source/log" 2>&1 ||
    skip "$name" "$module@$version did not build; $source/log says why"
}

helm() { use helm '^v4\.' command helm version --short || build helm helm.sh/helm/v4/cmd/helm helm.sh/helm/v4 v4.2.4; }
kubeconform() { use kubeconform . command kubeconform -v || build kubeconform github.com/yannh/kubeconform/cmd/kubeconform github.com/yannh/kubeconform v0.7.0; }
actionlint() { use actionlint '^v?1\.(7\.([7-9]|1[0-9])|[89]\.)' command actionlint --version || build actionlint github.com/rhysd/actionlint/cmd/actionlint github.com/rhysd/actionlint v1.7.12; }
k6() { use k6 'v2\.' command k6 version || build k6 go.k6.io/k6/v2 go.k6.io/k6/v2 v2.2.0; }
nats-server() { use nats-server 'v2\.([9]|[1-9][0-9])\.' command nats-server --version || build nats-server github.com/nats-io/nats-server/v2 github.com/nats-io/nats-server/v2 v2.15.2; }
versitygw() { use versitygw 'Version' command versitygw --version || build versitygw github.com/versity/versitygw/cmd/versitygw github.com/versity/versitygw v1.8.0; }
promtool() { use promtool 'version' command promtool --version || skip promtool 'install the Debian package prometheus'; }
prometheus() { use prometheus 'version' command prometheus --version || skip prometheus 'install the Debian package prometheus'; }

# The schemas of Kubernetes and of the kinds of others, for kubeconform.
schemas() {
  command -v go >/dev/null || { skip schemas 'Go is not installed, so the modules that carry them cannot be had'; return 0; }
  command -v node >/dev/null || { skip schemas 'Node is not installed'; return 0; }
  PATH="$PWD/node_modules/.bin:$PATH" node scripts/chart-schemas.ts
}

for tool in ${@:-helm kubeconform schemas actionlint k6 promtool prometheus nats-server versitygw}; do "$tool"; done
if [ ${#skipped[@]} -gt 0 ]; then printf 'skipped  %s\n' "${skipped[@]}"; fi
