{{/* Names. The longest suffix is 13 characters, and a Service's name may have 63. */}}

{{- define "slipway.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The release's name; with nameOverride, or as an aliased subchart, that name behind it. */}}
{{- define "slipway.fullname" -}}
{{- $suffix := .Values.nameOverride | default (eq .Chart.Name "slipway" | ternary "" .Chart.Name) }}
{{- $name := eq $suffix "" | ternary .Release.Name (printf "%s-%s" .Release.Name $suffix) }}
{{- default $name .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "slipway.internalName" -}}
{{ include "slipway.fullname" . }}-internal
{{- end }}

{{- define "slipway.migrateName" -}}
{{ include "slipway.fullname" . }}-migrate
{{- end }}

{{- define "slipway.dashboardName" -}}
{{ include "slipway.fullname" . }}-dashboard
{{- end }}

{{- define "slipway.uploadsClaim" -}}
{{- .Values.uploads.persistence.existingClaim | default (printf "%s-uploads" (include "slipway.fullname" .)) }}
{{- end }}

{{- define "slipway.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "slipway.fullname" .) "default") }}
{{- end }}

{{- define "slipway.image" -}}
{{- $reference := printf ":%s" (default .Chart.AppVersion .Values.image.tag) }}
{{- with .Values.image.digest }}{{ $reference = printf "@%s" . }}{{ end }}
{{- print .Values.image.repository $reference }}
{{- end }}

{{/* Labels. Both take (list . "component"), so that no Service selects a migration or a test. */}}

{{- define "slipway.releaseLabels" -}}
app.kubernetes.io/name: {{ include "slipway.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "slipway.selectorLabels" -}}
{{ include "slipway.releaseLabels" (first .) }}
app.kubernetes.io/component: {{ last . }}
{{- end }}

{{- define "slipway.labels" -}}
{{- $root := first . }}
{{- $version := regexReplaceAll "[^A-Za-z0-9._-]" (default $root.Chart.AppVersion $root.Values.image.tag) "-" | trunc 63 | trimAll "-._" }}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63)
  "app.kubernetes.io/version" $version
  "app.kubernetes.io/managed-by" $root.Release.Service }}
{{- merge (include "slipway.selectorLabels" . | fromYaml) $own (default dict $root.Values.commonLabels) | toYaml }}
{{- end }}

{{/* Without the chart's version: a chart that renders the same pod does not roll it. */}}
{{- define "slipway.podLabels" -}}
{{- omit (include "slipway.labels" . | fromYaml) "helm.sh/chart" "app.kubernetes.io/managed-by" | toYaml }}
{{- end }}

{{/* Facts that several templates ask for; "true" or nothing. */}}

{{- define "slipway.embedded" -}}
{{- if not (or .Values.database.url .Values.database.existingSecret) }}true{{ end }}
{{- end }}

{{- define "slipway.databaseServer" -}}
{{- if not (or (include "slipway.embedded" .) (eq .Values.database.url "none")) }}true{{ end }}
{{- end }}

{{- define "slipway.recreated" -}}
{{- if or (include "slipway.embedded" .) (eq .Values.strategy.type "Recreate") }}true{{ end }}
{{- end }}

{{- define "slipway.migratesByHook" -}}
{{- if and (include "slipway.databaseServer" .) (eq .Values.migrations.mode "hook") }}true{{ end }}
{{- end }}

{{- define "slipway.sentry" -}}
{{- if or .Values.sentry.dsn .Values.sentry.existingSecret }}true{{ end }}
{{- end }}

{{- define "slipway.nats" -}}
{{- if or .Values.nats.url .Values.nats.existingSecret }}true{{ end }}
{{- end }}

{{- define "slipway.replica" -}}
{{- if or .Values.database.replica.url .Values.database.replica.existingSecret }}true{{ end }}
{{- end }}

{{- define "slipway.redis" -}}
{{- if or .Values.redis.url .Values.redis.existingSecret }}true{{ end }}
{{- end }}

{{/* Numbers of pods. */}}

{{- define "slipway.mostReplicas" -}}
{{- if include "slipway.embedded" . }}1
{{- else if .Values.autoscaling.enabled }}{{ .Values.autoscaling.maxReplicas }}
{{- else }}{{ .Values.replicaCount }}
{{- end }}
{{- end }}

{{/*
With the autoscaler on, the number that runs, so that switching it on drops no pods. Nothing once somebody else has set the
number through the scale subresource: then it is theirs, and an upgrade or rollback that named another would be refused. But
where helm does not apply by the server, leaving the number out would set it to 1: there it is always named.
*/}}
{{- define "slipway.replicas" -}}
{{- if or (include "slipway.embedded" .) (not .Values.autoscaling.enabled) }}
{{- include "slipway.mostReplicas" . }}
{{- else }}
{{- $live := lookup "apps/v1" "Deployment" .Release.Namespace (include "slipway.fullname" .) }}
{{- $scaled := false }}
{{- $applied := false }}
{{- range dig "metadata" "managedFields" list $live }}
{{- if eq (get . "subresource") "scale" }}{{ $scaled = true }}{{ end }}
{{- if eq (get . "operation") "Apply" }}{{ $applied = true }}{{ end }}
{{- end }}
{{- if not (and $scaled $applied) }}
{{- $running := dig "spec" "replicas" .Values.autoscaling.minReplicas $live }}
{{- max .Values.autoscaling.minReplicas (min .Values.autoscaling.maxReplicas $running) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "slipway.surge" -}}
{{- $surge := toString .Values.strategy.maxSurge }}
{{- if include "slipway.recreated" . }}0
{{- else if hasSuffix "%" $surge }}{{ divf (mul (trimSuffix "%" $surge | int) (include "slipway.mostReplicas" . | int)) 100 | ceil }}
{{- else }}{{ $surge }}
{{- end }}
{{- end }}

{{/* Environment. */}}

{{/* Text of a value: `--set config.X=1` and `config: {X: 10000000}` arrive as numbers. */}}
{{- define "slipway.text" -}}
{{- kindIs "string" . | ternary . (toJson .) }}
{{- end }}

{{- define "slipway.trustProxy" -}}
{{- if has .Values.trustProxy (list nil "") }}
{{- if or .Values.ingress.enabled .Values.httpRoute.enabled }}1{{ else }}false{{ end }}
{{- else }}
{{- include "slipway.text" .Values.trustProxy }}
{{- end }}
{{- end }}

{{/* Milliseconds that the process accepts after SIGTERM: what preStop leaves of five seconds, at least one. */}}
{{- define "slipway.acceptMs" -}}
{{- mul 1000 (min .Values.shutdown.drainSeconds (max 1 (sub 5 .Values.shutdown.preStopSeconds))) }}
{{- end }}

{{/*
Milliseconds that the process gives each thing to close. After the drain, which may take 1.25 s longer, all together take
twice as long, and 2 s more go to a log that nobody reads: that has to end before Kubernetes kills the pod.
*/}}
{{- define "slipway.closerMs" -}}
{{- $rest := sub .Values.shutdown.graceSeconds (add .Values.shutdown.preStopSeconds .Values.shutdown.drainSeconds) }}
{{- min 2000 (div (sub (mul 1000 $rest) 3250) 2) }}
{{- end }}

{{- define "slipway.resourceAttributes" -}}
{{- $attributes := dict
  "service.namespace" .Release.Namespace
  "service.version" (default .Chart.AppVersion .Values.image.tag)
  "service.instance.id" "$(POD_UID)"
  "k8s.namespace.name" .Release.Namespace
  "k8s.pod.name" "$(POD_NAME)"
  "k8s.node.name" "$(NODE_NAME)" }}
{{- $pairs := list }}
{{- range $name, $value := merge (deepCopy (default dict .Values.telemetry.resourceAttributes)) $attributes }}
{{- $encoded := $value | replace "%" "%25" | replace "," "%2C" | replace "=" "%3D" }}
{{- $pairs = append $pairs (printf "%s=%s" $name $encoded) }}
{{- end }}
{{- join "," $pairs }}
{{- end }}

{{/* A variable from a Secret that exists or, without one, from the chart's; takes name, existing, key, own. */}}
{{- define "slipway.fromSecret" -}}
- name: {{ .name | quote }}
  valueFrom:
    secretKeyRef:
      name: {{ .existing | default .own | quote }}
      key: {{ empty .existing | ternary .name .key | quote }}
{{- end }}

{{/* What every container of the image gets; takes (list . "name of the Secret with DATABASE_URL"). */}}
{{- define "slipway.baseEnv" -}}
{{- $root := first . -}}
- name: NODE_ENV
  value: production
{{- with $root.Values.nodeOptions }}
- name: NODE_OPTIONS
  value: {{ . | quote }}
{{- end }}
- name: LOCAL_UPLOAD_DIR
  value: {{ $root.Values.uploads.mountPath | quote }}
{{- if include "slipway.embedded" $root }}
- name: DATABASE_URL
  value: file:/data/slipway.db
{{- else }}
{{ include "slipway.fromSecret" (dict "name" "DATABASE_URL" "own" (last .)
  "existing" $root.Values.database.existingSecret "key" $root.Values.database.existingSecretKey) }}
{{- end }}
{{- end }}

{{/* Settings that have their default in the service: what is null is not written. */}}
{{- define "slipway.limitsEnv" -}}
{{- $limits := dict
  "RATE_LIMIT_ENABLED" .Values.rateLimit.enabled
  "RATE_LIMIT_REQUESTS" .Values.rateLimit.requests
  "RATE_LIMIT_WINDOW_SECONDS" .Values.rateLimit.windowSeconds
  "OVERLOAD_ENABLED" .Values.overload.enabled
  "OVERLOAD_TARGET_MS" .Values.overload.targetMs
  "OVERLOAD_MAX_CONCURRENCY" .Values.overload.maxConcurrency }}
{{- range $name, $value := $limits }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ $name | quote }}
  value: {{ include "slipway.text" $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "slipway.serviceEnv" -}}
{{ include "slipway.baseEnv" (list . (include "slipway.fullname" .)) }}
- name: DATABASE_POOL_SIZE
  value: {{ .Values.database.poolSize | quote }}
{{- if include "slipway.embedded" . }}
- name: DATABASE_MIGRATE
  value: "true"
- name: DATABASE_SEED
  value: {{ .Values.embedded.seed | quote }}
{{- end }}
- name: PORT
  value: "3000"
- name: INTERNAL_PORT
  value: "9464"
- name: TRUST_PROXY
  value: {{ include "slipway.trustProxy" . | quote }}
- name: SHUTDOWN_ACCEPT_MS
  value: {{ include "slipway.acceptMs" . | quote }}
- name: SHUTDOWN_DEADLINE_MS
  value: {{ mul 1000 .Values.shutdown.drainSeconds | quote }}
- name: SHUTDOWN_CLOSER_TIMEOUT_MS
  value: {{ include "slipway.closerMs" . | quote }}
{{- include "slipway.limitsEnv" . }}
{{- if include "slipway.replica" . }}
{{ include "slipway.fromSecret" (dict "name" "DATABASE_READ_URL" "own" (include "slipway.fullname" .)
  "existing" .Values.database.replica.existingSecret "key" .Values.database.replica.existingSecretKey) }}
{{- end }}
{{- if include "slipway.redis" . }}
{{ include "slipway.fromSecret" (dict "name" "REDIS_URL" "own" (include "slipway.fullname" .)
  "existing" .Values.redis.existingSecret "key" .Values.redis.existingSecretKey) }}
{{- end }}
{{- if include "slipway.nats" . }}
{{ include "slipway.fromSecret" (dict "name" "EVENTS_NATS_URL" "own" (include "slipway.fullname" .)
  "existing" .Values.nats.existingSecret "key" .Values.nats.existingSecretKey) }}
- name: EVENTS_NATS_SUBJECT
  value: {{ .Values.nats.subject | quote }}
{{- with .Values.nats.stream }}
- name: EVENTS_NATS_STREAM
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- if .Values.uploads.s3.bucket }}
{{- $settings := dict "BUCKET" .Values.uploads.s3.bucket "PREFIX" .Values.uploads.s3.prefix "REGION" .Values.uploads.s3.region
  "ENDPOINT" .Values.uploads.s3.endpoint "ACCESS_KEY_ID" .Values.uploads.s3.accessKeyId }}
{{- range $name, $value := $settings }}
{{- with $value }}
- name: UPLOAD_S3_{{ $name }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
- name: UPLOAD_S3_PATH_STYLE
  value: {{ .Values.uploads.s3.pathStyle | quote }}
{{- if or .Values.uploads.s3.secretAccessKey .Values.uploads.s3.existingSecret }}
{{ include "slipway.fromSecret" (dict "name" "UPLOAD_S3_SECRET_ACCESS_KEY" "own" (include "slipway.fullname" .)
  "existing" .Values.uploads.s3.existingSecret "key" .Values.uploads.s3.existingSecretKey) }}
{{- end }}
{{- end }}
{{- if or .Values.internal.token .Values.internal.existingSecret }}
{{ include "slipway.fromSecret" (dict "name" "INTERNAL_TOKEN" "own" (include "slipway.fullname" .)
  "existing" .Values.internal.existingSecret "key" .Values.internal.existingSecretKey) }}
{{- end }}
- name: OTEL_SERVICE_NAME
  value: {{ include "slipway.fullname" . | quote }}
{{- with .Values.telemetry.otlpEndpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
- name: POD_NAME
  valueFrom:
    fieldRef: { fieldPath: metadata.name }
- name: POD_UID
  valueFrom:
    fieldRef: { fieldPath: metadata.uid }
- name: NODE_NAME
  valueFrom:
    fieldRef: { fieldPath: spec.nodeName }
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ include "slipway.resourceAttributes" $ | quote }}
{{- end }}
{{- if include "slipway.sentry" . }}
{{ include "slipway.fromSecret" (dict "name" "SENTRY_DSN" "own" (include "slipway.fullname" .)
  "existing" .Values.sentry.existingSecret "key" .Values.sentry.existingSecretKey) }}
{{- end }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "slipway.envFrom" -}}
{{- if .Values.config }}
- configMapRef:
    name: {{ include "slipway.fullname" . | quote }}
{{- end }}
{{- if or .Values.secretEnv (include "slipway.generatedSecrets" .) }}
- secretRef:
    name: {{ include "slipway.fullname" . | quote }}
{{- end }}
{{- with .Values.envFrom }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Data of the Secret, as YAML of plain text: what was given, and what the demo invents. */}}
{{- define "slipway.givenSecrets" -}}
{{- range $name, $value := .Values.secretEnv }}
{{ quote $name }}: {{ include "slipway.text" $value | quote }}
{{- end }}
{{- with .Values.database.url }}
DATABASE_URL: {{ . | quote }}
{{- end }}
{{- with .Values.database.replica.url }}
DATABASE_READ_URL: {{ . | quote }}
{{- end }}
{{- with .Values.redis.url }}
REDIS_URL: {{ . | quote }}
{{- end }}
{{- with .Values.nats.url }}
EVENTS_NATS_URL: {{ . | quote }}
{{- end }}
{{- with .Values.uploads.s3.secretAccessKey }}
UPLOAD_S3_SECRET_ACCESS_KEY: {{ . | quote }}
{{- end }}
{{- with .Values.internal.token }}
INTERNAL_TOKEN: {{ . | quote }}
{{- end }}
{{- with .Values.sentry.dsn }}
SENTRY_DSN: {{ . | quote }}
{{- end }}
{{- end }}

{{/* Names, separated by spaces, of the secrets that the demo has to invent. */}}
{{- define "slipway.generatedSecrets" -}}
{{- if include "slipway.embedded" . }}
{{- $missing := list }}
{{- range .Values.embedded.generatedSecrets }}
{{- if not (hasKey (default dict $.Values.secretEnv) .) }}{{ $missing = append $missing . }}{{ end }}
{{- end }}
{{- join " " $missing }}
{{- end }}
{{- end }}

{{/* A rule of the network policy; takes to, where empty is anywhere, and port, which falls back to url's and to default. */}}
{{- define "slipway.egress" -}}
{{- $authority := regexReplaceAll "^[^:]*://([^/?#]*@)?([^/?#]*).*$" (default "" .url) "${2}" -}}
- ports:
    - { protocol: TCP, port: {{ .port | default (regexFind ":[0-9]+$" $authority | trimPrefix ":") | default .default }} }
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* Pods. Deployment, migration and tests share all that a pod and a container of this image are. */}}

{{- define "slipway.podSecurityContext" -}}
{{- with .Values.podSecurityContext }}
{{- toYaml . }}
{{- end }}
{{- $own := dig "sysctls" list (.Values.podSecurityContext | default dict) }}
{{- if and .Values.sysctls (not $own) (semverCompare ">=1.32.0-0" .Capabilities.KubeVersion.Version) }}
sysctls:
  {{- range $name, $value := .Values.sysctls }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "slipway.podSpec" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "slipway.podSecurityContext" . }}
securityContext:
  {{- . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "slipway.container" -}}
image: {{ include "slipway.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
terminationMessagePolicy: FallbackToLogsOnError
{{- with .Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A read-only root needs one place to write. */}}
{{- define "slipway.tmpVolume" -}}
- name: tmp
  emptyDir:
    sizeLimit: {{ .Values.tmpSizeLimit }}
{{- end }}

{{- define "slipway.serviceMounts" -}}
- name: tmp
  mountPath: /tmp
- name: uploads
  mountPath: {{ .Values.uploads.mountPath | quote }}
{{- if include "slipway.embedded" . }}
- name: data
  mountPath: /data
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "slipway.serviceVolumes" -}}
{{ include "slipway.tmpVolume" . }}
- name: uploads
  {{- if .Values.uploads.persistence.enabled }}
  persistentVolumeClaim:
    claimName: {{ include "slipway.uploadsClaim" . | quote }}
  {{- else }}
  emptyDir:
    sizeLimit: {{ .Values.uploads.size }}
  {{- end }}
{{- if include "slipway.embedded" . }}
- name: data
  emptyDir:
    sizeLimit: {{ .Values.embedded.sizeLimit }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* A probe; one that was replaced by another kind keeps no httpGet of the defaults. */}}
{{- define "slipway.probe" -}}
{{- $probe := . }}
{{- if or .exec .tcpSocket .grpc }}{{ $probe = omit . "httpGet" }}{{ end }}
{{- toYaml $probe }}
{{- end }}

{{/* A pod of `helm test`: asks a URL of this release until it answers 200 with a text; takes name, host, path, text. */}}
{{- define "slipway.testPod" -}}
apiVersion: v1
kind: Pod
metadata:
  name: {{ include "slipway.fullname" .root }}-test-{{ .name }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "slipway.labels" (list .root "test") | nindent 4 }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  restartPolicy: Never
  {{- include "slipway.podSpec" .root | nindent 2 }}
  containers:
    - name: test
      {{- include "slipway.container" .root | nindent 6 }}
      command: [node]
      args:
        - --input-type=module
        - --eval
        - |-
          {{- .root.Files.Get "files/expect-answer.mjs" | trim | nindent 10 }}
        - http://{{ .host }}{{ .path }}
        - {{ .text | quote }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
  volumes:
    {{- include "slipway.tmpVolume" .root | nindent 4 }}
{{- end }}
