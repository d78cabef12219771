import { randomUUID } from 'node:crypto';
import { envelopeOf } from '../jobs/job-envelope.ts';
import type { EventJob } from './events.ts';

/** A domain event as other services get it (CloudEvents 1.0, JSON format). */
export interface CloudEvent {
  readonly specversion: '1.0';
  /** Of the event: with `source` it tells an event that comes twice. */
  readonly id: string;
  /** The service that emitted it. */
  readonly source: string;
  /** The event's name. */
  readonly type: string;
  /** What it is about, where its declaration names a key. */
  readonly subject?: string;
  /** When it was emitted. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: object;
  /** The trace in which it was emitted (CloudEvents: Distributed Tracing). */
  readonly traceparent?: string;
}

/** The queue of events that are to be published. */
export const outboxQueue = 'events.outbox';

/** The job that publishes an event; those of one key are done one after the other. */
export function outboxJob(source: string, type: string, data: object, key: string | undefined): EventJob {
  const id = randomUUID();
  const envelope = envelopeOf(undefined);
  const event: CloudEvent = {
    specversion: '1.0',
    id,
    source,
    type,
    ...(key !== undefined && { subject: key }),
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    data,
    ...(envelope.traceparent !== undefined && { traceparent: envelope.traceparent }),
  };
  return { queue: outboxQueue, id, key: `${type} ${key ?? id}`, data: { ...envelope, payload: event } };
}
