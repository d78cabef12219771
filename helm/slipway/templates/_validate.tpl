{{/* Refuses values that would render and then not work: all problems at once, each with what to change. */}}
{{- define "slipway.validate" -}}
{{- $problems := list }}
{{- range list "slipway.nameProblems" "slipway.sourceProblems" "slipway.environmentProblems" "slipway.podProblems" "slipway.rolloutProblems" "slipway.trafficProblems" }}
{{- $problems = concat $problems (include . $ | trim | splitList "\n" | compact) }}
{{- end }}
{{- if $problems }}
{{- fail (printf "These values do not work together:\n  - %s" (join "\n  - " $problems)) }}
{{- end }}
{{- end }}

{{- define "slipway.nameProblems" -}}
{{- $fullname := include "slipway.fullname" . }}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $fullname) }}
The objects would be named {{ $fullname | quote }}, and a Service begins with a letter and has small letters, digits and hyphens only; set fullnameOverride to such a name.
{{- end }}
{{- $name := include "slipway.name" . }}
{{- if not (regexMatch "^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$" $name) }}
nameOverride {{ $name | quote }} is no value of a label; write letters, digits and hyphens.
{{- end }}
{{- $names := dict
  "database.existingSecret" .Values.database.existingSecret
  "database.replica.existingSecret" .Values.database.replica.existingSecret
  "redis.existingSecret" .Values.redis.existingSecret
  "nats.existingSecret" .Values.nats.existingSecret
  "internal.existingSecret" .Values.internal.existingSecret
  "uploads.s3.existingSecret" .Values.uploads.s3.existingSecret
  "sentry.existingSecret" .Values.sentry.existingSecret
  "uploads.persistence.existingClaim" .Values.uploads.persistence.existingClaim
  "uploads.persistence.storageClassName" .Values.uploads.persistence.storageClassName
  "serviceAccount.name" .Values.serviceAccount.name
  "ingress.className" .Values.ingress.className
  "priorityClassName" .Values.priorityClassName }}
{{- range $path, $object := $names }}
{{- if and $object (not (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$" $object)) }}
{{ $path }} {{ $object | quote }} is no name of an object; write small letters, digits, hyphens and dots.
{{- end }}
{{- end }}
{{- end }}

{{- define "slipway.sourceProblems" -}}
{{- $database := .Values.database }}
{{- if and $database.url $database.existingSecret }}
database.url and database.existingSecret are both set; keep one.
{{- end }}
{{- if and $database.url (not (regexMatch "^(none$|postgres(ql)?://.)" $database.url)) }}
database.url is not a PostgreSQL URL; write postgresql://user:password@host:5432/name, or none for a service without a database, or leave it empty for the demo on embedded SQLite.
{{- end }}
{{- if and (include "slipway.embedded" .) .Values.autoscaling.enabled }}
autoscaling.enabled needs a database that pods can share; set database.url or database.existingSecret, or turn it off.
{{- end }}
{{- $most := include "slipway.mostReplicas" . | int }}
{{- $surge := include "slipway.surge" . | int }}
{{- $position := include "slipway.replica" . | empty | ternary 0 1 }}
{{- $needed := add 1 (mul (add $most $surge) (add $database.poolSize $position)) }}
{{- if and $database.maxConnections (include "slipway.databaseServer" .) (gt $needed (int64 $database.maxConnections)) }}
database.maxConnections is {{ $database.maxConnections }}, and ({{ $most }} pods + {{ $surge }} of a rollout) x {{ if $position }}(database.poolSize {{ $database.poolSize }} + 1 for what the replica lacks){{ else }}database.poolSize {{ $database.poolSize }}{{ end }} + 1 for migrations is {{ $needed }}; lower database.poolSize or the number of pods, or raise max_connections of the server and this value.
{{- end }}
{{- $replica := $database.replica }}
{{- if and $replica.url $replica.existingSecret }}
database.replica.url and database.replica.existingSecret are both set; keep one.
{{- end }}
{{- if and $replica.url (not (regexMatch "^postgres(ql)?://." $replica.url)) }}
database.replica.url is not a PostgreSQL URL; write postgresql://user:password@host:5432/name, or leave it empty.
{{- end }}
{{- if and (include "slipway.replica" .) (not (include "slipway.databaseServer" .)) }}
database.replica needs the database that it is a replica of; set database.url or database.existingSecret.
{{- end }}
{{- if and .Values.redis.url .Values.redis.existingSecret }}
redis.url and redis.existingSecret are both set; keep one.
{{- end }}
{{- if and .Values.redis.url (not (regexMatch "^rediss?://[^/?#[:space:]]" .Values.redis.url)) }}
redis.url is not a Redis URL; write redis://:password@host:6379 or, with TLS, rediss://…, or leave it empty.
{{- end }}
{{- if and .Values.nats.url .Values.nats.existingSecret }}
nats.url and nats.existingSecret are both set; keep one.
{{- end }}
{{- if and .Values.nats.url (not (regexMatch "^(nats|tls)://[^/?#[:space:],]+(,(nats|tls)://[^/?#[:space:],]+)*$" .Values.nats.url)) }}
nats.url is no list of NATS URLs; write nats://user:password@host:4222 or, with TLS, tls://…, by commas, or leave it empty.
{{- end }}
{{- with .Values.uploads.s3 }}
{{- $secret := or .secretAccessKey .existingSecret }}
{{- if and .secretAccessKey .existingSecret }}
uploads.s3.secretAccessKey and uploads.s3.existingSecret are both set; keep one.
{{- end }}
{{- if ne (empty .accessKeyId) (empty $secret) }}
uploads.s3 has {{ empty $secret | ternary "an access key without its secret; set secretAccessKey or existingSecret" "a secret without its access key; set accessKeyId" }}.
{{- end }}
{{- if and (empty .bucket) (or .prefix .region .endpoint .accessKeyId $secret) }}
uploads.s3 names no bucket; set uploads.s3.bucket, or leave the rest empty.
{{- end }}
{{- end }}
{{- if and .Values.internal.token .Values.internal.existingSecret }}
internal.token and internal.existingSecret are both set; keep one.
{{- end }}
{{- if and .Values.sentry.dsn .Values.sentry.existingSecret }}
sentry.dsn and sentry.existingSecret are both set; keep one.
{{- end }}
{{- if and .Values.sentry.dsn (not (regexMatch "^https?://\\w+(:\\w+)?@(\\[[0-9a-fA-F:.]+\\]|[\\w.-]+)(:[0-9]{1,5})?/([\\w./-]+/)?[0-9]+$" .Values.sentry.dsn)) }}
sentry.dsn is not a DSN; copy it from the settings of the Sentry project, https://key@host/number.
{{- end }}
{{- end }}

{{- define "slipway.environmentProblems" -}}
{{- $fixed := dict
  "NODE_ENV" "is always production here"
  "PORT" "is always 3000 here; service.port is what clients see"
  "INTERNAL_PORT" "is always 9464 here"
  "DATABASE_URL" "is set by database.url or database.existingSecret"
  "DATABASE_POOL_SIZE" "is set by database.poolSize"
  "DATABASE_READ_URL" "is set by database.replica.url or database.replica.existingSecret"
  "LOCAL_UPLOAD_DIR" "is set by uploads.mountPath"
  "UPLOAD_S3_BUCKET" "is set by uploads.s3.bucket"
  "UPLOAD_S3_PREFIX" "is set by uploads.s3.prefix"
  "UPLOAD_S3_REGION" "is set by uploads.s3.region"
  "UPLOAD_S3_ENDPOINT" "is set by uploads.s3.endpoint"
  "UPLOAD_S3_PATH_STYLE" "is set by uploads.s3.pathStyle"
  "UPLOAD_S3_ACCESS_KEY_ID" "is set by uploads.s3.accessKeyId"
  "UPLOAD_S3_SECRET_ACCESS_KEY" "is set by uploads.s3.secretAccessKey or uploads.s3.existingSecret"
  "NODE_OPTIONS" "is set by nodeOptions"
  "TRUST_PROXY" "is set by trustProxy"
  "SHUTDOWN_ACCEPT_MS" "is derived from shutdown.preStopSeconds"
  "SHUTDOWN_DEADLINE_MS" "is set by shutdown.drainSeconds"
  "SHUTDOWN_CLOSER_TIMEOUT_MS" "is derived from shutdown.graceSeconds"
  "REDIS_URL" "is set by redis.url or redis.existingSecret"
  "EVENTS_NATS_URL" "is set by nats.url or nats.existingSecret"
  "EVENTS_NATS_SUBJECT" "is set by nats.subject"
  "EVENTS_NATS_STREAM" "is set by nats.stream"
  "INTERNAL_TOKEN" "is set by internal.token or internal.existingSecret"
  "RATE_LIMIT_ENABLED" "is set by rateLimit.enabled"
  "RATE_LIMIT_REQUESTS" "is set by rateLimit.requests"
  "RATE_LIMIT_WINDOW_SECONDS" "is set by rateLimit.windowSeconds"
  "OVERLOAD_ENABLED" "is set by overload.enabled"
  "OVERLOAD_TARGET_MS" "is set by overload.targetMs"
  "OVERLOAD_MAX_CONCURRENCY" "is set by overload.maxConcurrency"
  "SENTRY_DSN" "is set by sentry.dsn or sentry.existingSecret"
  "OTEL_SERVICE_NAME" "is the name of the release; fullnameOverride changes it"
  "OTEL_EXPORTER_OTLP_ENDPOINT" "is set by telemetry.otlpEndpoint"
  "OTEL_RESOURCE_ATTRIBUTES" "is set by telemetry.resourceAttributes" }}
{{- if .Values.telemetry.otlpEndpoint }}
{{- $_ := set $fixed "POD_NAME" "is the name of the pod with telemetry.otlpEndpoint" }}
{{- $_ := set $fixed "POD_UID" "is the uid of the pod with telemetry.otlpEndpoint" }}
{{- $_ := set $fixed "NODE_NAME" "is the node of the pod with telemetry.otlpEndpoint" }}
{{- end }}
{{- if include "slipway.embedded" . }}
{{- $_ := set $fixed "DATABASE_MIGRATE" "is always true with embedded SQLite" }}
{{- $_ := set $fixed "DATABASE_SEED" "is set by embedded.seed" }}
{{- end }}
{{- range $map := list "config" "secretEnv" }}
{{- range $name, $value := index $.Values $map }}
{{- with get $fixed (trimSuffix "_FILE" $name) }}
{{ $map }}.{{ $name }}: {{ trimSuffix "_FILE" $name }} {{ . }}; remove it from {{ $map }}.
{{- end }}
{{- end }}
{{- end }}
{{- $login := "://[^/?#[:space:]]*:[^/?#[:space:]]*@" }}
{{- range $name, $value := .Values.config }}
{{- if regexMatch "(SECRET|PASSWORD|PASS|PWD|TOKEN|_KEYS?|CREDENTIALS|DSN|_OTLP(_[A-Z]+)?_HEADERS|_TRANSPORT_OPTIONS)$" $name }}
config.{{ $name }} looks like a secret, and a ConfigMap is none; move it to secretEnv or to a Secret named in envFrom.
{{- else if regexMatch $login (toString $value) }}
config.{{ $name }} is a URL with a password, and a ConfigMap is no secret; move it to secretEnv or to a Secret named in envFrom.
{{- end }}
{{- if hasKey (default dict $.Values.secretEnv) $name }}
{{ $name }} is both in config and in secretEnv; keep one.
{{- end }}
{{- end }}
{{- range .Values.env }}
{{- $name := .name }}
{{- with get $fixed (trimSuffix "_FILE" $name) }}
env: {{ trimSuffix "_FILE" $name }} {{ . }}; remove {{ $name }} from env.
{{- end }}
{{- if regexMatch $login (default "" .value) }}
env: {{ $name }} is a URL with a password, and a Deployment is no secret; move it to secretEnv, or take it from a Secret by valueFrom.
{{- end }}
{{- end }}
{{- range include "slipway.repeated" .Values.env | fromJsonArray }}
env: {{ . }} stands there twice; keep one.
{{- end }}
{{- if regexMatch $login (default "" .Values.telemetry.otlpEndpoint) }}
telemetry.otlpEndpoint is a URL with a password, and a Deployment is no secret; leave the password out, and give secretEnv.OTEL_EXPORTER_OTLP_HEADERS, for example authorization=Basic%20….
{{- end }}
{{- end }}

{{/* Names that a list has more than once, as JSON. */}}
{{- define "slipway.repeated" -}}
{{- $names := list }}
{{- $repeated := list }}
{{- range . }}
{{- if has .name $names }}{{ $repeated = append $repeated .name }}{{ end }}
{{- $names = append $names .name }}
{{- end }}
{{- $repeated | uniq | toJson }}
{{- end }}

{{- define "slipway.podProblems" -}}
{{- $path := .Values.uploads.mountPath | clean }}
{{- $taken := list "/tmp" "/app" }}
{{- if include "slipway.embedded" . }}{{ $taken = append $taken "/data" }}{{ end }}
{{- range $taken }}
{{- if or (eq $path .) (hasPrefix (print . "/") $path) }}
uploads.mountPath {{ $.Values.uploads.mountPath }} is in {{ . }}, which has another use; take a directory of its own, such as /uploads.
{{- end }}
{{- end }}
{{- $volumes := list (dict "name" "tmp") (dict "name" "uploads") }}
{{- if include "slipway.embedded" . }}{{ $volumes = append $volumes (dict "name" "data") }}{{ end }}
{{- range include "slipway.repeated" (concat $volumes (default list .Values.extraVolumes)) | fromJsonArray }}
extraVolumes: there is a volume {{ . }} already; give this one another name.
{{- end }}
{{- $containers := list (dict "name" "service") }}
{{- if eq .Values.migrations.mode "initContainer" }}{{ $containers = append $containers (dict "name" "migrate") }}{{ end }}
{{- range include "slipway.repeated" (concat $containers (default list .Values.extraContainers)) | fromJsonArray }}
extraContainers: there is a container {{ . }} already; give this one another name.
{{- end }}
{{- range list "checksum/config" "checksum/secret" "slipway/rollout-token" "kubectl.kubernetes.io/default-container" }}
{{- if hasKey (default dict $.Values.podAnnotations) . }}
podAnnotations.{{ . }} is set by the chart; remove it{{ if eq . "slipway/rollout-token" }}, and set rolloutToken{{ end }}.
{{- end }}
{{- end }}
{{- end }}

{{- define "slipway.rolloutProblems" -}}
{{- $shutdown := .Values.shutdown }}
{{- $least := add $shutdown.preStopSeconds $shutdown.drainSeconds 5 }}
{{- if lt (int64 $shutdown.graceSeconds) $least }}
shutdown.graceSeconds is {{ $shutdown.graceSeconds }}, so Kubernetes would kill pods that still answer; preStopSeconds {{ $shutdown.preStopSeconds }} + drainSeconds {{ $shutdown.drainSeconds }} + 5 needs at least {{ $least }}.
{{- end }}
{{- $none := list "0" "0%" }}
{{- $strategy := .Values.strategy }}
{{- if and (not (include "slipway.recreated" .)) (has (toString $strategy.maxUnavailable) $none) (has (toString $strategy.maxSurge) $none) }}
strategy.maxUnavailable and strategy.maxSurge are both 0, so no pod could ever be replaced; set strategy.maxSurge to 1.
{{- end }}
{{- if and .Values.pdb.enabled (has (toString .Values.pdb.maxUnavailable) $none) }}
pdb.maxUnavailable is 0, which blocks every drain of a node; set it to 1, or pdb.enabled to false.
{{- end }}
{{- $autoscaling := .Values.autoscaling }}
{{- if and $autoscaling.enabled (gt (int $autoscaling.minReplicas) (int $autoscaling.maxReplicas)) }}
autoscaling.minReplicas {{ $autoscaling.minReplicas }} is more than autoscaling.maxReplicas {{ $autoscaling.maxReplicas }}; swap them.
{{- end }}
{{- if and $autoscaling.enabled (not (dig "requests" "cpu" "" (default dict .Values.resources))) }}
autoscaling.enabled aims at a share of the CPU request, and there is none; set resources.requests.cpu.
{{- end }}
{{- $uploads := .Values.uploads.persistence }}
{{- $single := and (include "slipway.recreated" .) (not $autoscaling.enabled) (le (include "slipway.mostReplicas" . | int) 1) }}
{{- if and $uploads.enabled (ne $uploads.accessMode "ReadWriteMany") (not $single) }}
uploads.persistence.accessMode {{ $uploads.accessMode }} lets one node hold the volume; set it to ReadWriteMany, or replicaCount to 1, strategy.type to Recreate and autoscaling.enabled to false.
{{- end }}
{{- end }}

{{- define "slipway.trafficProblems" -}}
{{- if eq (toString .Values.trustProxy) "true" }}
trustProxy is true, so that any client could name any address; set it to the number of proxies in front of the service, or to their addresses.
{{- else if not (regexMatch "^(|false|[0-9]{1,2}|(\\s*(loopback|linklocal|uniquelocal|[0-9a-fA-F]*[.:][0-9a-fA-F:.]*(/[0-9]{1,3})?)\\s*(,|$))+)$" (include "slipway.trustProxy" .)) }}
trustProxy {{ .Values.trustProxy }} names no proxy; write false, the number of proxies in front of the service, or their addresses with commas between.
{{- end }}
{{- $config := default dict .Values.config }}
{{- $disabled := has (toString $config.ENABLE_OPENAPI) (list "false" "0" "no" "off") }}
{{- if and $disabled (eq .Values.tests.apiPath "/api-docs.json") }}
tests.apiPath is /api-docs.json, which is not there with config.ENABLE_OPENAPI {{ $config.ENABLE_OPENAPI }}; set it to another path that answers 200, or to nothing.
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
ingress.enabled needs a host name; set ingress.hosts, for example [orders.example.com].
{{- end }}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
httpRoute.enabled needs a Gateway; set httpRoute.parentRefs, for example [{name: public, namespace: gateways}].
{{- end }}
{{- end }}
