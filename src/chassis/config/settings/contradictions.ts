import type { z } from 'zod';
import type { chassisSettings } from '../chassis-settings.ts';
import { isPostgresqlOnly } from '../layout.ts';
import { hasDatabase } from './database-url-problem.ts';

type Settings = z.infer<z.ZodObject<typeof chassisSettings>>;

/** Settings that hold each by itself and contradict each other or the service, one sentence each. */
export function settingContradictions(settings: Settings, postgresqlOnly = isPostgresqlOnly()): string[] {
  const problems: string[] = [];
  if (postgresqlOnly && /^file:/i.test(settings.DATABASE_URL)) {
    problems.push(
      'DATABASE_URL: expected postgresql://…, because the datasource in prisma/models.prisma says PostgreSQL only; found file:…, which is also the default',
    );
  }
  const { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share } = settings;
  if (share !== undefined && !sampler.endsWith('traceidratio')) {
    problems.push(
      `OTEL_TRACES_SAMPLER_ARG: expected a sampler that takes a share, such as parentbased_traceidratio; found ${sampler}`,
    );
  }
  const { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: batch, OTEL_BSP_MAX_QUEUE_SIZE: queue } = settings;
  if (batch > queue) {
    problems.push(
      `OTEL_BSP_MAX_EXPORT_BATCH_SIZE: expected at most OTEL_BSP_MAX_QUEUE_SIZE, which is ${queue}; found ${batch}`,
    );
  }
  if (!hasDatabase(settings.DATABASE_URL) && settings.DATABASE_SEED !== 'none') {
    problems.push(`DATABASE_SEED: expected none, because DATABASE_URL is none; found ${settings.DATABASE_SEED}`);
  }
  if (settings.DIAGNOSTICS_ENABLED && settings.INTERNAL_TOKEN === undefined) {
    problems.push('DIAGNOSTICS_ENABLED: expected INTERNAL_TOKEN to be set, because profiles need it; found none');
  }
  const replica = replicaProblem(settings);
  if (replica !== undefined) problems.push(`DATABASE_READ_URL: ${replica}`);
  const { UPLOAD_S3_ACCESS_KEY_ID: key, UPLOAD_S3_SECRET_ACCESS_KEY: secret } = settings;
  if ((key === undefined) !== (secret === undefined)) {
    const [found, lacking] =
      key === undefined ? ['SECRET_ACCESS_KEY', 'ACCESS_KEY_ID'] : ['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'];
    problems.push(`UPLOAD_S3_${lacking}: expected to be set, because UPLOAD_S3_${found} is; found none`);
  }
  if (sharePort(settings)) {
    problems.push(`INTERNAL_PORT: expected another port than PORT; found ${settings.PORT} for both`);
  }
  return problems;
}

/** What keeps a replica from holding what the database of DATABASE_URL does. */
function replicaProblem({ DATABASE_URL: url, DATABASE_READ_URL: replica }: Settings): string | undefined {
  if (replica === undefined) return undefined;
  if (!/^postgres(ql)?:/.test(url)) {
    const found = hasDatabase(url) ? 'file:…' : 'none';
    return `expected DATABASE_URL to be postgresql://…, because only PostgreSQL has replicas; found ${found}`;
  }
  const [schema, own] = [url, replica].map((text) => new URL(text).searchParams.get('schema') ?? '');
  return schema === own ? undefined : `expected the ?schema= of DATABASE_URL, which is "${schema}"; found "${own}"`;
}

function sharePort({ HOST, PORT, INTERNAL_HOST, INTERNAL_PORT }: Settings): boolean {
  if (PORT === 0 || PORT !== INTERNAL_PORT) return false;
  return HOST === INTERNAL_HOST || [HOST, INTERNAL_HOST].some((host) => host === '0.0.0.0' || host === '::');
}
