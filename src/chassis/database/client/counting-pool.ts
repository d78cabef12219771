import { Pool, type PoolClient } from 'pg';
import { RequestQueue } from './request-queue.ts';

type Callback = (error: Error | undefined, client: PoolClient | undefined, done: (release?: unknown) => void) => void;

/** A pool of connections that knows the requests which wait for one. */
export class CountingPool extends Pool {
  readonly requests = new RequestQueue();

  /** As the pool's own, in both of its forms. */
  override connect(): Promise<PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<PoolClient> | undefined {
    if (!callback) return this.requests.wait(super.connect());
    const visitor = this.requests.enter();
    super.connect((error, client, done) => {
      this.requests.leave(visitor, client !== undefined);
      callback(error, client, done);
    });
    return undefined;
  }
}
