#!/usr/bin/env bash
# Tells Sentry of a release: the commits that went into it and the source maps of dist. For the workflow `release`, after the
# build, and for a pipeline of your own.
# Usage: VERSION=1.4.0 REVISION=$(git rev-parse HEAD) scripts/sentry-release.sh DIRECTORY
# Reads SENTRY_AUTH_TOKEN, SENTRY_ORG, SENTRY_PROJECT and, for a Sentry of your own, SENTRY_URL.
set -euo pipefail
directory=${1:?Expected the directory of the build, such as dist}
: "${VERSION:?}" "${REVISION:?}" "${SENTRY_AUTH_TOKEN:?}" "${SENTRY_ORG:?}" "${SENTRY_PROJECT:?}"
package=$(cd "$(dirname "$0")/.." && pwd)

# The name that the image reports: src/chassis/telemetry/sentry/start-sentry.ts
release="$(node -p 'require(process.argv[1]).name' "$package/package.json")@$VERSION+$REVISION"
previous=$(git describe --tags --abbrev=0 --match 'v*' "$REVISION^" 2>/dev/null || true)
sentry() { node "$package/node_modules/sentry/dist/bin.cjs" "$@"; }

sentry release create "$SENTRY_ORG/$release" --project "$SENTRY_PROJECT"
sentry release set-commits "$SENTRY_ORG/$release" --local ${previous:+--from "$previous"}
sentry sourcemap upload "$directory" --release "$release"
sentry release finalize "$SENTRY_ORG/$release"
