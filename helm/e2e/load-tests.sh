#!/usr/bin/env bash
# Runs load tests inside a cluster as load-tests/README.md says: each scenario in smoke, and three in load, as a Job of k6
# against a release of two pods on PostgreSQL, with a payment provider for orders. Prints what each measured, and makes one report of the logs.
# Usage: helm/e2e/load-tests.sh KUBECONFIG IMAGE, with E2E_K6_IMAGE and the variables of helm/e2e.sh.
#   E2E_REPORT   where the report goes (.cache/load/cluster)
set -euo pipefail
export KUBECONFIG=${1:?Usage: helm/e2e/load-tests.sh KUBECONFIG IMAGE}
image=${2:?Usage: helm/e2e/load-tests.sh KUBECONFIG IMAGE}
k6_image=${E2E_K6_IMAGE:?Expected E2E_K6_IMAGE to name an image of k6}
root=$(cd "$(dirname "$0")/../.." && pwd)
chart=$root/helm/slipway
work=$(mktemp -d)
report=${E2E_REPORT:-$root/.cache/load/cluster}
namespace=slipway-load-$$
release=orders
rows=()
source "$root/helm/e2e/helpers.sh"
trap clean_up EXIT

load() { node "$root/load-tests/run.ts" "$@"; }

# as_job SCENARIO PROFILE: its summary goes to the logs, and the Job away.
as_job() {
  local job=load-$1
  load manifest "$1" "$2" --target "http://$release" --kind job --image "$k6_image" | k apply -f - >/dev/null
  try 150 ended "$job" || fail "$1 in $2 did not end: $(k logs "job/$job" --tail 5)"
  k logs "job/$job" >"$work/log"
  cat "$work/log" >>"$work/logs"
  load report --out "$work/load" <"$work/log" >/dev/null 2>"$work/result" || failures+=("$1 in $2: $(<"$work/log")")
  row "\`$1\`, $2" "$(sed 's/^[^:]*: //' "$work/result")"
  k delete job,configmap "$job" >/dev/null
}
ended() { [ "$(k get job "$1" -o jsonpath='{.status.succeeded}{.status.failed}')" = 1 ]; }

k create namespace "$namespace" >/dev/null
k label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted >/dev/null
start_database
k create secret generic database --from-literal=DATABASE_URL="$database_url" >/dev/null
secret() { head -c 32 /dev/urandom | base64; }
k create secret generic env --from-literal=AUTH_JWT_SECRET="$(secret)" --from-literal=CURSOR_SECRET="$(secret)" \
  --from-literal=PAYMENTS_URL=http://payments:8080 --from-literal=PAYMENTS_WEBHOOK_SECRET="$(secret)" \
  --from-literal=RATE_LIMIT_ENABLED=false >/dev/null
k create configmap payments --from-file="$root/load-tests/servers/payment-provider.ts" >/dev/null
sed "s|IMAGE|$image|" "$root/helm/e2e/payments.yaml" | k apply -f - >/dev/null
k wait --for condition=Ready pod/payments --timeout 2m >/dev/null || fail 'the payment provider did not start'
k create secret generic load-tests --from-literal=LOAD_EMAIL=admin@example.com --from-literal=LOAD_PASSWORD=slipway-demo-password >/dev/null
# Pods that take uploads share what they keep.
uploads=$work/uploads
install -d -m 777 "$uploads"
sed -e "s|PATH|$uploads|" -e "s|NAME|$namespace|" "$root/helm/e2e/uploads.yaml" | k apply -f - >/dev/null
h install $release "$chart" "${values[@]}" --set uploads.persistence.enabled=true --set uploads.persistence.existingClaim=uploads \
  --wait --timeout 4m >/dev/null
# Outside of production there are accounts.
NODE_ENV=development DATABASE_URL=$database_url node "$root/src/main.ts" seed --size small >/dev/null

scenarios=$(cd "$root/load-tests/scenarios" && ls | sed 's|\.ts$||')
failures=()
for scenario in $scenarios; do as_job "$scenario" smoke; done
for scenario in list-shallow read-one write-mix; do as_job "$scenario" load; done
load report --out "$report" <"$work/logs" 2>/dev/null || true
table
echo "report: $report/report.html"
[ ${#failures[@]} = 0 ] || fail "$(printf '%s\n' "${failures[@]}")"
