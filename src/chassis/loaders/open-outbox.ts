import { buildInfo } from '../config/build-info.ts';
import type { CloudEvent } from '../events/cloud-event.ts';
import type { MakeOutboxJob } from '../events/events.ts';
import type { JobPlan } from '../jobs/job-plan.ts';
import type { Service } from '../service.ts';

/** What publishes events to the outside. */
export interface Outbox {
  /** The job that publishes one event. */
  readonly plan: JobPlan;
  readonly makeJob: MakeOutboxJob;
}

/** An outage of the server is outlived, however long it lasts. */
const attempts = 1_000_000;

/** Has events be published where EVENTS_NATS_URL is set; else nothing of it is loaded. A start does not wait for NATS. */
export async function openOutbox({ settings, closers, logger }: Service): Promise<Outbox | undefined> {
  const { EVENTS_NATS_URL: url, EVENTS_NATS_SUBJECT: prefix, EVENTS_NATS_STREAM: stream } = settings;
  if (url === undefined) return undefined;
  const { outboxJob, outboxQueue } = await import('../events/cloud-event.ts');
  const { NatsPublisher } = await import('../events/nats-publisher.ts');
  const name = settings.OTEL_SERVICE_NAME ?? buildInfo(settings).name;
  const publisher = new NatsPublisher({ url, prefix, stream, name, logger });
  closers.add('connection to NATS', () => publisher.close());
  const plan: JobPlan = {
    name: outboxQueue,
    module: 'chassis',
    replicas: 'one',
    policy: 'ordered',
    attempts,
    backoffMs: 1000,
    longestBackoffMs: 60_000,
    timeLimitMs: 30_000,
    expiryMs: 120_000,
    jitterMs: 0,
    schedule: undefined,
    event: undefined,
    concurrency: undefined,
    principal: undefined,
    work: (event: CloudEvent) => publisher.publish(event),
  };
  return { plan, makeJob: (type, data, key) => outboxJob(`/${name}`, type, data, key) };
}
