#!/usr/bin/env bash
# Installs the chart on a real cluster and does to it what happens in production: upgrade, rollback, scaling, eviction, a
# migration that fails, the death of a pod and of the database, each under load. Prints what each step measured.
# Usage: helm/e2e.sh KUBECONFIG IMAGE, with kubectl, helm 4, k6 2, curl and node on PATH and an image that the nodes have or can pull.
#   E2E_DATABASE_URL   a PostgreSQL that pods reach, empty; it is not killed. Without it:
#   E2E_HOST_ADDRESS   this machine's address as pods see it: PostgreSQL then runs here, from npm's embedded-postgres
#   (neither)          PostgreSQL runs in a pod, from E2E_POSTGRES_IMAGE (docker.io/library/postgres:18)
#   E2E_NODE_ADDRESS   a node's address as this machine sees it; the first node's InternalIP
#   E2E_RATE           iterations of two requests per second (25)
set -euo pipefail
export KUBECONFIG=${1:?Usage: helm/e2e.sh KUBECONFIG IMAGE} K6_NO_USAGE_REPORT=true K6_AUTO_EXTENSION_RESOLUTION=false
image=${2:?Usage: helm/e2e.sh KUBECONFIG IMAGE}
root=$(cd "$(dirname "$0")/.." && pwd)
chart=$root/helm/slipway
work=$(mktemp -d)
namespace=slipway-e2e-$$
release=orders
rows=()
for tool in kubectl helm k6 curl node; do
  command -v "$tool" >/dev/null || { echo "Expected $tool on PATH; scripts/tools.sh brings helm and k6." >&2; exit 1; }
done
source "$root/helm/e2e/helpers.sh"
trap clean_up EXIT

k create namespace "$namespace" >/dev/null
k label namespace "$namespace" pod-security.kubernetes.io/{enforce,warn}=restricted pod-security.kubernetes.io/enforce-version=latest >/dev/null
if k run bare --image "$image" >"$work/bare" 2>&1; then fail 'a pod without a securityContext was admitted: Pod Security is not enforced'; fi
row 'Pod Security `restricted`' 'refuses a bare pod; every pod below is admitted'

# --- The demo: no values at all
objects >"$work/before-demo"
from=$(now)
h install demo "$chart" "${image_values[@]}" --wait --timeout 3m >/dev/null
row 'Install, embedded SQLite' "ready after $(since "$from") s"
tested demo
uninstalled demo before-demo

# --- PostgreSQL, as in production
start_database
k create secret generic database --from-literal=DATABASE_URL="$database_url" >/dev/null
k create secret generic env --from-literal=AUTH_JWT_SECRET="$(head -c 32 /dev/urandom | base64)" \
  --from-literal=CURSOR_SECRET="$(head -c 32 /dev/urandom | base64)" >/dev/null
objects >"$work/before"
from=$(now)
h install $release "$chart" "${values[@]}" --wait --timeout 4m >/dev/null
row 'Install, PostgreSQL' "migrated and 2 pods ready after $(since "$from") s"
in_pod node dist/main.js seed --size small >/dev/null
tested $release

if [ -n "${E2E_K6_IMAGE:-}" ]; then
  job=load-list-shallow
  node "$root/load-tests/run.ts" manifest list-shallow smoke --target "http://$release" --kind job --image "$E2E_K6_IMAGE" |
    k apply -f - >/dev/null
  k wait "job/$job" --for=condition=complete --timeout 2m >/dev/null || fail "the load test failed: $(k logs "job/$job" --tail 5)"
  k logs "job/$job" | node "$root/load-tests/run.ts" report --out "$work/load" >/dev/null 2>"$work/load.log" ||
    fail "the log of the load test made no report: $(<"$work/load.log")"
  grep -q list-shallow "$work/load/report.html" || fail 'the report of the load test does not name it'
  row 'Load test as a Job' "$(<"$work/load.log")"
  k delete job,configmap "$job" >/dev/null
else
  row 'Load test as a Job' 'skipped: E2E_K6_IMAGE names no image of k6'
fi

load_start upgrade
from=$(now)
h upgrade $release "$chart" "${values[@]}" --set-string rolloutToken=second --rollback-on-failure --wait --timeout 4m >/dev/null
settled
load_stop
row 'Upgrade under load' "every pod replaced in $(since "$from") s; $measured"
none_failed

load_start rollback
from=$(now)
h rollback $release 1 --wait --timeout 4m >/dev/null
settled
load_stop
row 'Rollback under load' "every pod replaced in $(since "$from") s; $measured"
none_failed

load_start scale
from=$(now)
k scale deployment $release --replicas 4 >/dev/null
k rollout status deployment $release --timeout 2m >/dev/null
up=$(since "$from")
k scale deployment $release --replicas 2 >/dev/null
settled
load_stop
row 'Scale 2, 4, 2 under load' "4 pods ready after $up s; $measured"
none_failed

load_start drain
from=$(now)
evict_all
settled
load_stop
row 'Drain under load' "$evicted pods evicted in $(since "$from") s, ${refusals} attempts put off by the PodDisruptionBudget; $measured"
none_failed

# The pods in service have their database; only the migration meets the one where it fails.
k create secret generic obstructed --from-literal=DATABASE_URL="$(obstructed_database)" >/dev/null
third=("${values[@]}" --set-string rolloutToken=third --force-conflicts --wait)
pods_before=$(pod_names)
load_start migration
from=$(now)
if h upgrade $release "$chart" "${third[@]}" --set database.existingSecret=obstructed --timeout 3m >"$work/migration" 2>&1; then
  fail 'an upgrade whose migration failed was reported as done'
fi
seconds=$(since "$from")
load_stop
grep -q "$release-migrate" "$work/migration" || fail "helm did not name the migration: $(<"$work/migration")"
k logs -l "batch.kubernetes.io/job-name=$release-migrate" --tail 20 >"$work/migration.log"
grep -q products "$work/migration.log" || fail "the logs of the Job do not say what failed: $(<"$work/migration.log")"
[ "$(pod_names)" = "$pods_before" ] || fail 'pods were replaced though the migration had failed'
row 'Failing migration under load' "helm said so after $seconds s, its log says why, the old pods stayed; $measured"
none_failed
from=$(now)
h upgrade $release "$chart" "${third[@]}" --timeout 4m >/dev/null
settled
k delete secret obstructed >/dev/null
row 'The same upgrade, once repaired' "every pod replaced in $(since "$from") s"

load_start kill-pod
from=$(now)
# The connection of kubectl breaks off with the container.
timeout 20 kubectl -n "$namespace" exec "$(pod_names | head -1)" -- node --input-type=module --eval "$(<"$root/helm/e2e/crash.mjs")" >/dev/null 2>&1 || true
try 30 crashed || fail 'the service did not crash'
settled
load_stop
row 'Kill a pod under load' "2 pods ready again after $(since "$from") s; $measured"
[ "$failed" -le $((requests / 20)) ] || fail "$failed of $requests requests failed after the death of one of two pods"

if [ -n "$database_can_die" ]; then
  load_start kill-database
  restarts=$(restart_count)
  kill_database
  recover 60
  load_stop
  [ "$(restart_count)" = "$restarts" ] || fail 'pods were restarted though only the database was down'
  row 'Kill the database under load' "down for ${database_down} s; answers again $recovered s after it is back, no pod restarted; $measured, $refused of the failed with 503"
else
  row 'Kill the database under load' 'skipped: the database was given'
fi

uninstalled $release before
table
