import { AsyncLocalStorage } from 'node:async_hooks';
import type { Service } from '../service.ts';
import type { RequestContext } from './request-context.ts';

/** What the code that runs now belongs to. */
export interface Scope {
  readonly service: Service | undefined;
  readonly request: RequestContext | undefined;
}

/** One storage for both, because entering one costs a request more than all that it holds. */
export const scopes = new AsyncLocalStorage<Scope>();
