import type { z } from 'zod';

/** What one domain event is. */
export interface EventDefinition {
  /** Its data; what `emit` is given is checked by it, and unknown fields are left out. */
  readonly data: z.ZodObject;
  /**
   * The field of its data that names what it is about, such as `orderId`: events of one key are published in the order in
   * which they were emitted. Default: none, and no order.
   */
  readonly key?: string;
}

/** The domain events of a module by their names, such as `order.placed`. */
export type EventDefinitions = Readonly<Record<string, EventDefinition>>;

/** The data of each event; `Slipway.Events` is extended with it. */
export type EventsOf<E extends EventDefinitions> = { [N in keyof E]: z.output<E[N]['data']> };

/**
 * Declares the domain events of a module, as the default export of its `<x>.events.ts`:
 * `defineEvents({ 'order.placed': { data: z.object({ orderId: z.uuid() }), key: 'orderId' } })`.
 */
export function defineEvents<S extends Readonly<Record<string, z.ZodObject>>>(
  events: {
    readonly [N in keyof S]: { readonly data: S[N]; readonly key?: keyof z.output<S[N]> & string };
  },
): { readonly [N in keyof S]: { readonly data: S[N]; readonly key?: string } } {
  return events;
}
