#!/usr/bin/env bash
# Installs a service that `slipway new` made on a cluster, with the chart of its package and its own values, on PostgreSQL:
# pods become ready, it stores and lists what it is given, `helm test` passes, and nothing is left.
# Usage: helm/e2e/deploy-service.sh KUBECONFIG IMAGE SERVICE, with the variables of helm/e2e.sh.
set -euo pipefail
export KUBECONFIG=${1:?Usage: helm/e2e/deploy-service.sh KUBECONFIG IMAGE SERVICE}
image=${2:?Usage: helm/e2e/deploy-service.sh KUBECONFIG IMAGE SERVICE}
service=${3:?Usage: helm/e2e/deploy-service.sh KUBECONFIG IMAGE SERVICE}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
namespace=slipway-new-$$
release=shop
rows=()
export PATH="$root/node_modules/.bin:$PATH"
source "$root/helm/e2e/helpers.sh"
trap clean_up EXIT

k create namespace "$namespace" >/dev/null
k label namespace "$namespace" pod-security.kubernetes.io/{enforce,warn}=restricted pod-security.kubernetes.io/enforce-version=latest >/dev/null
start_database
token=$(head -c 32 /dev/urandom | base64 | tr '+/' '-_')
k create secret generic database --from-literal=DATABASE_URL="$database_url" >/dev/null
k create secret generic env --from-literal=AUTH_TOKEN="$token" --from-literal=CURSOR_SECRET="$(head -c 32 /dev/urandom | base64)" >/dev/null
objects >"$work/before"
h install "$release" "$service/node_modules/slipway/helm/slipway" --values "$service/helm/values.yaml" "${values[@]}" --wait --timeout 4m >/dev/null
[ "$(k get deployment "$release" -o jsonpath='{.status.readyReplicas}')" = 2 ] || fail 'two ready pods were expected'
row 'Install' "2 pods ready"

url=$(service_url)/api/v1
try 30 answers || fail 'the service does not answer'
# send PATH BODY: what the service answers to a POST of the administrator.
send() { curl -sS -m 5 -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d "$2" "$url/$1"; }
category=$(send categories '{"name":"Books"}' | sed -E 's/.*"id":"([^"]+)".*/\1/')
send products "{\"name\":\"Atlas\",\"price\":2500,\"categoryId\":\"$category\"}" | grep -q '"success":true' || fail 'the product was not stored'
[ "$(curl -s -o /dev/null -w '%{http_code}' -m 5 -d '{}' "$url/products")" = 401 ] || fail 'a create without a token was not refused'
listed=$(curl -sSG -m 5 "$url/products/paginated" --data-urlencode 'where={"category":{"name":{"equals":"Books"}}}')
[[ $listed == *'"total":1'* ]] || fail "one product was expected, got $listed"
tested "$release"
uninstalled "$release" before
table
