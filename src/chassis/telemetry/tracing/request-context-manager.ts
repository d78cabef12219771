import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, type ContextManager, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { getRequestContext, type RequestContext } from '../../context/request-context.ts';

const spanKey = Symbol('server span');

/** The span of a request. Most requests ask for no context, so it is made of span and parent when one does. */
interface RequestSpan {
  readonly span: Span;
  readonly parent: Context;
  context?: Context;
}

type TracedContext = RequestContext & { [spanKey]?: RequestSpan };

/** Makes `span`, child of what `parent` holds, active wherever `request` is the current request. */
export function activateSpan(request: RequestContext, span: Span, parent: Context): void {
  (request as TracedContext)[spanKey] = { span, parent };
}

/** The span of a request; undefined where none was begun. */
export function serverSpanOf(request: RequestContext): Span | undefined {
  return (request as TracedContext)[spanKey]?.span;
}

/**
 * Tells OpenTelemetry what is active. For the span of a request that is what its request context says, which is there
 * anyway: only spans within it, of queries and calls, enter a storage of their own.
 */
export class RequestContextManager implements ContextManager {
  readonly #within = new AsyncLocalStorage<{ context: Context; request: RequestContext | undefined }>();

  active(): Context {
    const request = getRequestContext();
    const within = this.#within.getStore();
    if (within !== undefined && within.request === request) return within.context;
    return (request && contextOf(request)) ?? ROOT_CONTEXT;
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
    const manager = this;
    function bound(this: unknown, ...values: unknown[]): unknown {
      return manager.with(context, () => Reflect.apply(target as () => unknown, this, values));
    }
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

function contextOf(request: RequestContext): Context | undefined {
  const active = (request as TracedContext)[spanKey];
  if (active) active.context ??= trace.setSpan(active.parent, active.span);
  return active?.context;
}
