# Builds the service for Docker, BuildKit or buildah. Build arguments:
#   BUILDER   the image that builds, with Node 24 and npm
#   RUNTIME   the base image, with Node 24 and glibc; gcr.io/distroless/nodejs24-debian12:nonroot has no shell and no npm
#   Both by tag here, for a build by hand. A release gives them by digest, which `docker buildx imagetools inspect` tells,
#   so that what was scanned is what is pushed, and notes it in the label of the base.
#   VERSION, REVISION, SOURCE   for labels, metrics and traces
# Secrets, both optional: `npmrc` holds npm's settings for a private registry, `ca` the certificate of a proxy:
#   docker build --secret id=npmrc,src=$HOME/.npmrc --secret id=ca,src=/etc/ssl/certs/proxy.pem .
ARG BUILDER=docker.io/library/node:24-bookworm-slim
ARG RUNTIME=docker.io/library/node:24-bookworm-slim

# What the lockfile names, and no install script of anybody.
FROM ${BUILDER} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm,sharing=locked \
    --mount=type=secret,id=npmrc,target=/root/.npmrc \
    --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -f /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi; \
    npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier
# What .dockerignore lets in. The result is the bundled service, and of its packages what the bundle does not hold.
COPY . .
RUN npm run build -- --image /image \
    && mkdir -p /writable/cache /writable/data /writable/uploads

FROM ${RUNTIME} AS service
# The distroless runtime has its Node in /nodejs/bin. With more arenas the C library keeps 20 MiB more at worst,
# and with thresholds that grow what passwords and compressors gave back, up to 100 MiB. Below a limit of 1 GiB Node gives new
# objects 1 MiB before it collects garbage: with 8 a request takes a quarter less of the CPU.
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/nodejs/bin \
    NODE_ENV=production \
    NODE_OPTIONS="--max-old-space-size-percentage=75 --max-semi-space-size=8" \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=131072 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    NODE_COMPILE_CACHE=/app/.cache \
    LOCAL_UPLOAD_DIR=/uploads
WORKDIR /app
COPY --from=build /image/node_modules node_modules
COPY --from=build /image/package.json ./
COPY --from=build /image/prisma prisma
COPY --from=build /image/dist dist
# Of these Sentry shows the lines around a frame.
COPY --from=build /image/src src
# Places for volumes; all else is of root, and may be read-only.
COPY --from=build --chown=65532:65532 /writable/data /data
COPY --from=build --chown=65532:65532 /writable/uploads /uploads

FROM service AS warm
COPY --from=build --chown=65532:65532 /writable/cache .cache
USER 65532:65532
RUN ["node", "dist/chassis/image/warm.js"]

FROM service
# The cache is of the user that filled it, and closed to others: here it is of root, for everybody to read.
COPY --from=warm --chown=0:0 --chmod=0555 /app/.cache .cache
USER 65532:65532
# PORT and INTERNAL_PORT
EXPOSE 3000 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=3s --start-period=60s --retries=3 CMD ["node", "dist/chassis/image/health-check.js"]
# Without arguments it serves; `migrate` and `seed --size small` are the other ones. With 8 MiB for new objects from its first
# moment on, which NODE_OPTIONS cannot say, a start takes an eighth less of the CPU: Node begins with 1 and collects at each.
ENTRYPOINT ["node", "--disable-sigusr1", "--min-semi-space-size=8", "dist/main.js"]
CMD []
ARG RUNTIME
ARG VERSION=unknown
ARG REVISION=unknown
ARG SOURCE=unknown
ENV SOURCE_REVISION=${REVISION}
LABEL org.opencontainers.image.title=slipway \
      org.opencontainers.image.description="Slipway service: serves, migrates and seeds" \
      org.opencontainers.image.licenses=MIT \
      org.opencontainers.image.base.name=${RUNTIME} \
      org.opencontainers.image.version=${VERSION} \
      org.opencontainers.image.revision=${REVISION} \
      org.opencontainers.image.source=${SOURCE}
