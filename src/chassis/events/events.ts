import { currentUnit } from '../database/client/current-work.ts';
import type { OrmClient } from '../database/client/orm-types.ts';
import { afterCommit } from '../database/work/after-commit.ts';
import { unitOfWorkOn } from '../database/work/unit-of-work.ts';
import { InternalServerErrorException } from '../errors/exceptions.ts';
import { nearMisses } from '../errors/near-misses.ts';
import { envelopeOf } from '../jobs/job-envelope.ts';
import type { JobStore, JobToStore } from '../jobs/job-store.ts';
import type { EventDefinition } from './define-events.ts';

/** A job that an event becomes. */
export interface EventJob extends JobToStore {
  readonly queue: string;
}

/** Makes the job by which an event reaches the outside. */
export type MakeOutboxJob = (name: string, data: object, key: string | undefined) => EventJob;

/** What events are emitted to, once they are loaded. */
export interface OpenEvents {
  readonly declared: ReadonlyMap<string, EventDefinition>;
  /** The queues of the handlers of each event. */
  readonly handlers: ReadonlyMap<string, readonly string[]>;
  readonly client: OrmClient;
  readonly store: JobStore;
  /** Undefined where no event is published to the outside. */
  readonly outbox: MakeOutboxJob | undefined;
  /** Has this replica look for jobs. */
  wake(): void;
}

/** The domain events of a service, as its modules emit them: `constructor({ events }: Pick<Slipway.Cradle, 'events'>)`. */
export class Events {
  #open: OpenEvents | undefined;

  /** Connects to the store of events; for the loader. */
  open(events: OpenEvents): void {
    this.#open = events;
  }

  /**
   * Stores an event: inside a unit of work together with it or not at all, outside of one at once. Each handler that a
   * module declares with `on` gets it at least once, as a job of its own, and so does what publishes it to the outside.
   *
   * @throws InternalServerErrorException for data that does not fit its declaration
   * @throws Error for a name that no module declares, and before the start
   */
  async emit<N extends keyof Slipway.Events & string>(name: N, data: Slipway.Events[N]): Promise<void> {
    const open = this.#opened(name);
    const jobs = jobsOf(open, name, data);
    if (jobs.length === 0) return;
    const storeAll = async () => {
      for (const { queue, ...job } of jobs) await open.store.store(queue, [job]);
    };
    if (jobs.length === 1 || currentUnit(open.client)) await storeAll();
    else await unitOfWorkOn(open.client, storeAll);
    afterCommit(open.wake);
  }

  #opened(name: string): OpenEvents {
    if (this.#open?.declared.has(name)) return this.#open;
    const declared = [...(this.#open?.declared.keys() ?? [])];
    const near = nearMisses(name, declared);
    const hint = near.length > 0 ? `is ${near.join(' or ')} meant?` : `declared are ${declared.join(', ') || 'none'}`;
    throw new Error(`Expected an event that a module declares in an <x>.events.ts, found "${name}": ${hint}`);
  }
}

function jobsOf({ declared, handlers, outbox }: OpenEvents, name: string, given: object): EventJob[] {
  const { data: schema, key } = declared.get(name) as EventDefinition;
  const { data, error } = schema.safeParse(given);
  if (error) {
    throw new InternalServerErrorException(`The data of the event ${name} does not fit its declaration`, undefined, {
      cause: error,
    });
  }
  const own = (handlers.get(name) ?? []).map((queue) => ({ queue, data: envelopeOf(data) }));
  const about = key === undefined ? undefined : String(data[key]);
  return outbox ? [...own, outbox(name, data, about)] : own;
}
