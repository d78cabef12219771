import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, type ContextManager, ROOT_CONTEXT } from '@opentelemetry/api';
import { getRequestContext, type RequestContext } from '../../context/request-context.ts';

const spanContextKey = Symbol('OpenTelemetry context');

type TracedContext = RequestContext & { [spanContextKey]?: Context };

/**
 * Tells OpenTelemetry what is active. For the span of a request that is what its request context says, which is there
 * anyway: only spans within it, of queries and calls, enter a storage of their own.
 */
export class RequestContextManager implements ContextManager {
  readonly #within = new AsyncLocalStorage<{ context: Context; request: RequestContext | undefined }>();

  /** Makes `context` active wherever `request` is the current request. */
  static activate(request: RequestContext, context: Context): void {
    (request as TracedContext)[spanContextKey] = context;
  }

  /** What was made active for a request. */
  static of(request: RequestContext): Context | undefined {
    return (request as TracedContext)[spanContextKey];
  }

  active(): Context {
    const request = getRequestContext();
    const within = this.#within.getStore();
    if (within !== undefined && within.request === request) return within.context;
    return (request && RequestContextManager.of(request)) ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    work: F,
    thisArgument?: ThisParameterType<F>,
    ...values: A
  ): ReturnType<F> {
    const run = () => work.call(thisArgument as ThisParameterType<F>, ...values);
    return this.#within.run({ context, request: getRequestContext() }, run);
  }

  /** A function that runs in `context` whenever it is called; other values are given back as they are. */
  bind<T>(context: Context, target: T): T {
    if (typeof target !== 'function') return target;
    const bound = (...values: unknown[]) => this.with(context, () => Reflect.apply(target, undefined, values));
    return bound as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#within.disable();
    return this;
  }
}
