import { describe, expect, it } from 'vitest';
import { production, refusal, render, skipped, type Values } from './chart.ts';

/** Values that give what the chart gives, give a name twice or show a secret, and the sentence that says what to change. */
const clashes: [what: string, values: Values, sentence: string][] = [
  [
    'a setting that the chart has a value for',
    { config: { PORT: 8080 } },
    'config.PORT: PORT is always 3000 here; service.port is what clients see; remove it from config.',
  ],
  [
    'a file for a setting that the chart has a value for',
    { secretEnv: { DATABASE_URL_FILE: '/run/url' } },
    'secretEnv.DATABASE_URL_FILE: DATABASE_URL is set by database.url or database.existingSecret; remove it from secretEnv.',
  ],
  [
    'a variable that the chart sets already',
    { env: [{ name: 'NODE_ENV', value: 'test' }] },
    'env: NODE_ENV is always production here; remove NODE_ENV from env.',
  ],
  [
    'a file for a variable that the chart sets already',
    { env: [{ name: 'NODE_ENV_FILE', value: '/run/env' }] },
    'env: NODE_ENV is always production here; remove NODE_ENV_FILE from env.',
  ],
  [
    'a variable that describes the pod in traces',
    { env: [{ name: 'POD_NAME', value: 'a' }], telemetry: { otlpEndpoint: 'http://collector:4318' } },
    'env: POD_NAME is the name of the pod with telemetry.otlpEndpoint; remove POD_NAME from env.',
  ],
  [
    'a variable that stands twice in a list',
    { env: ['A', 'B', 'A', 'A'].map((name) => ({ name, value: 'x' })) },
    'env: A stands there twice; keep one.',
  ],
  [
    'a limit that the chart has a value for',
    { config: { RATE_LIMIT_REQUESTS: 10 }, rateLimit: { requests: 20 } },
    'config.RATE_LIMIT_REQUESTS: RATE_LIMIT_REQUESTS is set by rateLimit.requests; remove it from config.',
  ],
  [
    'a Redis that the network policy would not know of',
    { secretEnv: { REDIS_URL: 'redis://redis:6379' } },
    'secretEnv.REDIS_URL: REDIS_URL is set by redis.url or redis.existingSecret; remove it from secretEnv.',
  ],
  [
    'a secret among the settings',
    { config: { AUTH_JWT_SECRET: 'x' } },
    'config.AUTH_JWT_SECRET looks like a secret, and a ConfigMap is none; move it to secretEnv or to a Secret named in envFrom.',
  ],
  [
    'a password in the URL of a setting',
    { config: { HTTPS_PROXY: 'http://:secret@proxy:3128' } },
    'config.HTTPS_PROXY is a URL with a password, and a ConfigMap is no secret; move it to secretEnv or to a Secret named in envFrom.',
  ],
  [
    'a password in the URL of a variable',
    { env: [{ name: 'HTTPS_PROXY', value: 'http://user:secret@proxy:3128' }] },
    'env: HTTPS_PROXY is a URL with a password, and a Deployment is no secret; move it to secretEnv, or take it from a Secret by valueFrom.',
  ],
  [
    'a password in the URL of the collector',
    { telemetry: { otlpEndpoint: 'https://user:secret@collector' } },
    'telemetry.otlpEndpoint is a URL with a password, and a Deployment is no secret; leave the password out, and give secretEnv.OTEL_EXPORTER_OTLP_HEADERS, for example authorization=Basic%20….',
  ],
  [
    'uploads in the directory of the service',
    { uploads: { mountPath: '/app/../app/dist/' } },
    'uploads.mountPath /app/../app/dist/ is in /app, which has another use; take a directory of its own, such as /uploads.',
  ],
  [
    'uploads in the directory for what is temporary',
    { uploads: { mountPath: '/tmp' } },
    'uploads.mountPath /tmp is in /tmp,',
  ],
  [
    "uploads in the directory of the demo's database",
    { uploads: { mountPath: '/data' } },
    'uploads.mountPath /data is in /data,',
  ],
  [
    'a volume with a name that the chart uses',
    { extraVolumes: [{ name: 'uploads', emptyDir: {} }] },
    'extraVolumes: there is a volume uploads already; give this one another name.',
  ],
  [
    'a container with a name that the chart uses',
    { extraContainers: [{ name: 'service', image: 'proxy:1' }] },
    'extraContainers: there is a container service already; give this one another name.',
  ],
  [
    'an annotation that rolls the pods',
    { podAnnotations: { 'checksum/config': 'x' } },
    'podAnnotations.checksum/config is set by the chart; remove it.',
  ],
  [
    'a name that no Service may have',
    { fullnameOverride: 'My_orders' },
    'The objects would be named "My_orders", and a Service begins with a letter and has small letters, digits and hyphens only; set fullnameOverride to such a name.',
  ],
  [
    'a name that no label may have',
    { nameOverride: '-a', fullnameOverride: 'orders' },
    'nameOverride "-a" is no value of a label; write letters, digits and hyphens.',
  ],
  [
    'a name that no object may have',
    { redis: { existingSecret: 'orders redis' } },
    'redis.existingSecret "orders redis" is no name of an object; write small letters, digits, hyphens and dots.',
  ],
  [
    'a setting in two places',
    { config: { LOG_LEVEL: 'info' }, secretEnv: { LOG_LEVEL: 'debug' } },
    'LOG_LEVEL is both in config and in secretEnv; keep one.',
  ],
];

describe.skipIf(skipped('helm'))(`names, variables and directories that clash${skipped('helm')}`, () => {
  it.each(clashes)('are refused: %s', (_what, values, sentence) => {
    expect(refusal(values).replaceAll(/\s+/g, ' ')).toContain(`- ${sentence}`);
  });

  it.each<[string, Values]>([
    ['a variable that describes the pod where nothing else does', { env: [{ name: 'POD_NAME', value: 'a' }] }],
    ['uploads where only the demo has its database', { ...production, uploads: { mountPath: '/data' } }],
    ['a URL with a port and an address behind it', { config: { HELP: 'http://a:80/x?to=me@b', USER: 'http://me@b' } }],
    ['settings whose name only speaks of secrets', { config: { AUTH_ACCESS_TOKEN_TTL_SECONDS: 60 } }],
  ])('are not seen in %s', (_what, values) => expect(render(values)).not.toEqual([]));
});
