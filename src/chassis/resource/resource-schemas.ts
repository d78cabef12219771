import type { z } from 'zod';
import type { AnyListPolicy } from '../query/policy/list-policy.ts';
import type { Selection } from '../query/query-types.ts';
import type { ResourceService } from './resource-service.ts';

/** A schema by what it gives, so that the compiler's message names the field that does not fit. */
interface Gives<Output> {
  readonly _zod: { readonly output: Output };
}

/** An operation on the record with this id: gives it with what `select` selects, or nothing, and then it is read. */
// biome-ignore lint/suspicious/noExplicitAny: a method with an id of its own type is one too.
export type Action<Id = any> = (id: Id, select: Selection) => Promise<unknown>;

/** The methods that a service has beside the standard ones, of those that `action` takes. */
export type ActionOf<S> = {
  [Name in Exclude<keyof S, keyof ResourceService>]: S[Name] extends Action ? Name : never;
}[Exclude<keyof S, keyof ResourceService>] &
  string;

/** The shapes of a resource: what leaves, what comes in, and what may be asked of it. */
export interface ResourceSchemas<S extends ResourceService = ResourceService> {
  record: z.ZodObject;
  /** Gives what the service's `create` takes. Left out of a resource that is never created by a request. */
  create?: z.ZodObject & Gives<Parameters<S['create']>[0]>;
  /** Gives what the service's `update` takes. Left out of a resource that is never changed by a request. */
  update?: z.ZodObject & Gives<Parameters<S['update']>[1]>;
  list: AnyListPolicy;
  /** The policies beside `list` that `policyFor` may choose. Default: none. */
  otherLists?: readonly AnyListPolicy[];
}

/** Whether no caller sees other fields than others do. */
export function showsAllTheSame({ list, otherLists = [] }: Pick<ResourceSchemas, 'list' | 'otherLists'>): boolean {
  return otherLists.length === 0 && list.variants.length === 0;
}
