import { UndiciInstrumentation, type UndiciRequest } from '@opentelemetry/instrumentation-undici';
import { PrismaInstrumentation } from '@prisma/instrumentation';
import { redactUrl } from '../redact.ts';

/**
 * Child spans for `fetch`, which announces its requests on a diagnostics channel, and for Prisma, which asks for a
 * tracer by itself: no library is patched and no loader hook is needed. Only inside a request, or another span.
 *
 * @returns what ends them
 */
export function instrumentClients(): () => void {
  const instruments = [
    new UndiciInstrumentation({ requireParentforSpans: true, startSpanHook: withoutSecrets }),
    new PrismaInstrumentation({ ignoreSpanTypes: ['prisma:client:serialize'] }),
  ];
  return () => {
    for (const instrument of instruments) instrument.disable();
  };
}

function withoutSecrets({ origin, path }: UndiciRequest): Record<string, string> {
  const url = new URL(redactUrl(new URL(path, origin).href));
  return { 'url.full': url.href, 'url.query': url.search };
}
