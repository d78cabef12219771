# Functions of helm/e2e.sh. All that waits is bounded.

k() { kubectl --namespace "$namespace" --request-timeout 150s "$@"; }
h() { helm --namespace "$namespace" "$@"; }

repository=${image%:*}
image_values=(--set "image.repository=$repository" --set-string "image.tag=${image##*:}")
# A NodePort is reached the way a load balancer reaches the service: through kube-proxy, which follows the endpoints.
values=("${image_values[@]}" --set database.existingSecret=database --set 'envFrom[0].secretRef.name=env' --set service.type=NodePort)

now() { date +%s.%N; }
since() { awk -v from="$1" -v to="$(now)" 'BEGIN { printf "%.1f", to - from }'; }
row() { rows+=("| $1 | $2 |"); echo "$1: $2"; }
table() { printf '\n| Step | Measured |\n|---|---|\n'; printf '%s\n' "${rows[@]}"; }

fail() {
  echo "FAILED: $1" >&2
  k get pods,jobs -o wide >&2 || true
  k get events --sort-by .lastTimestamp 2>/dev/null | tail -15 >&2 || true
  exit 1
}

clean_up() {
  local code=$? pid
  set +e
  for pid in ${load_pid:-} ${postgres_pid:-}; do kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done
  kubectl delete namespace "$namespace" --wait --timeout 90s >/dev/null 2>&1
  rm -rf "$work"
  exit "$code"
}

# try SECONDS COMMAND...: runs it until it succeeds.
try() {
  local deadline=$((SECONDS + $1))
  until "${@:2}"; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.5
  done
}

# --- Pods

pod_names() { k get pods -l "app.kubernetes.io/instance=$release,app.kubernetes.io/component=service" -o name | sort | sed 's|^pod/||'; }
restart_count() { k get pods -l "app.kubernetes.io/instance=$release,app.kubernetes.io/component=service" -o jsonpath='{.items[*].status.containerStatuses[*].restartCount}'; }
crashed() { [[ $(restart_count) == *1* ]]; }
in_pod() { k exec "deployment/$release" -- "$@"; }

two_pods_ready() {
  [ "$(pod_names | wc -l)" = 2 ] && [ "$(k get deployment $release -o jsonpath='{.status.readyReplicas} {.status.updatedReplicas}')" = '2 2' ]
}
# Pods on their way out are waited for too: they serve to their end.
settled() { try 150 two_pods_ready || fail 'two ready pods were expected within 150 s'; }

# Asks for the eviction of every pod that there is now, as kubectl drain does.
evict_all() {
  local pod
  evicted=0 refusals=0
  for pod in $(pod_names); do
    try 90 evict "$pod" || fail "$pod was not evicted within 90 s"
    evicted=$((evicted + 1))
  done
}
evict() {
  local request='{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"'$1'"}}'
  k create --raw "/api/v1/namespaces/$namespace/pods/$1/eviction" -f - <<<"$request" >"$work/eviction" 2>&1 && return
  grep -q 'disruption budget' "$work/eviction" || fail "the eviction of $1 was refused: $(<"$work/eviction")"
  refusals=$((refusals + 1))
  return 1
}

# --- What is there: every kind that can be listed, without what the cluster itself writes

objects() {
  local kinds
  kinds=$(kubectl api-resources --namespaced --verbs list -o name | grep -Ev '^(events|endpoints|endpointslices|leases|.*metrics\.k8s\.io)' | paste -sd,)
  k get "$kinds" -o name --ignore-not-found 2>/dev/null | sort
}
same_objects() { objects | diff "$work/$1" - >"$work/left"; }

# uninstalled RELEASE SNAPSHOT: uninstalls it, and waits until what is there is what was there before.
uninstalled() {
  local from count
  from=$(now) count=$(objects | wc -l)
  h uninstall "$1" --wait --timeout 3m >/dev/null
  try 90 same_objects "$2" || fail "this is left: $(<"$work/left")"
  row 'Uninstall' "none of $((count - $(wc -l <"$work/$2"))) objects left after $(since "$from") s"
}

# --- Tests of the release

tested() {
  h test "$1" --timeout 2m >"$work/tests" || fail "helm test: $(<"$work/tests")"
  row '`helm test`' "$(grep -c 'Phase: *Succeeded' "$work/tests") pods passed"
}

# --- Load

service_url() {
  local address=${E2E_NODE_ADDRESS:-} port
  [ -n "$address" ] || address=$(kubectl get nodes -o jsonpath='{.items[0].status.addresses[?(@.type=="InternalIP")].address}')
  port=$(k get service $release -o jsonpath='{.spec.ports[0].nodePort}')
  echo "http://$address:$port"
}

answers() { curl -sf -m 2 -o /dev/null "$(service_url)/api/v1/products/paginated?pageSize=1"; }

# The load runs from before a step until after it, so every moment of the step is under load.
load_start() {
  summary=$work/$1.json
  try 30 answers || fail 'the service does not answer'
  k6 run --quiet -e PROFILE=rollout -e RATE="${E2E_RATE:-25}" -e BASE_URL="$(service_url)" -e SUMMARY_FILE="$summary" \
    "$root/load-tests/scenarios/list-shallow.ts" >"$work/k6.log" 2>&1 &
  load_pid=$!
  sleep 5
}

load_stop() {
  sleep 3
  kill -0 "$load_pid" 2>/dev/null || fail "the load ended before the step: $(tail -3 "$work/k6.log")"
  kill -INT "$load_pid"
  wait "$load_pid" || true
  load_pid=
  [ -s "$summary" ] || fail "k6 measured nothing: $(tail -3 "$work/k6.log")"
  requests=$(field requests) failed=$(field failed) refused=$(field refused)
  measured="$failed of $requests requests failed"
  [ "$failed" = 0 ] || measured+=" within $(field outage) s"
  measured+=", p99 $(field p99) ms"
}
field() { sed -E "s/.*\"$1\":([0-9.]+).*/\1/" "$summary"; }
none_failed() { [ "$failed" = 0 ] || fail "$measured, expected none"; }

# --- Database

start_database() {
  database_url=${E2E_DATABASE_URL:-} database_can_die=
  [ -z "$database_url" ] || return 0
  database_can_die=yes
  if [ -n "${E2E_HOST_ADDRESS:-}" ]; then
    node "$root/helm/e2e/postgres.ts" "$E2E_HOST_ADDRESS" >"$work/postgres" 2>&1 &
    postgres_pid=$!
    try 30 grep -q '^postgresql:' "$work/postgres" || fail "PostgreSQL did not start: $(<"$work/postgres")"
    database_url=$(grep -m1 '^postgresql:' "$work/postgres")
  else
    sed "s|IMAGE|${E2E_POSTGRES_IMAGE:-docker.io/library/postgres:18}|" "$root/helm/e2e/postgres.yaml" | k apply -f - >/dev/null
    k wait --for condition=Ready pod/postgres --timeout 3m >/dev/null || fail 'PostgreSQL did not start'
    database_url=postgresql://slipway:slipway@postgres:5432/slipway
  fi
}

# Makes a database in which the first migration fails half-way, and prints its URL: the name of a table is taken.
obstructed_database() {
  if k get pod postgres >/dev/null 2>&1; then
    k exec postgres -- psql --quiet --username slipway --command 'CREATE DATABASE obstructed' >&2
    k exec postgres -- psql --quiet --username slipway --dbname obstructed --command 'CREATE DOMAIN products AS text' >&2
    printf %s "${database_url%/*}/obstructed"
  else
    DATABASE_URL=$database_url node "$root/helm/e2e/obstructed-database.ts"
  fi
}

# Kills the database; returns when it is back.
kill_database() {
  local from
  from=$(now)
  if [ -n "${postgres_pid:-}" ]; then
    kill -USR2 "$postgres_pid"
    try 60 grep -q '^back' "$work/postgres" || fail 'PostgreSQL did not come back'
  else
    k exec postgres -- sh -c 'kill -QUIT 1'
    try 60 restarted_database || fail 'PostgreSQL did not come back'
  fi
  database_down=$(since "$from")
}
restarted_database() {
  [ "$(k get pod postgres -o jsonpath='{.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].ready}')" = '1 true' ]
}

# Waits until the service answers ten times in a row.
recover() {
  local from
  from=$(now)
  try "$1" answers_steadily || fail "the service does not answer $1 s after the database is back"
  recovered=$(since "$from")
}
answers_steadily() { for _ in 1 2 3 4 5 6 7 8 9 10; do answers || return 1; done; }
