import type { Span } from '@opentelemetry/api';
import type { Reporter } from '../../errors/reporters/reporter.ts';
import { ownFault } from '../own-fault.ts';
import { maskStack, maskText } from '../redact.ts';
import { serverSpanOf } from './request-context-manager.ts';

const maximumCauses = 5;
/**
 * Characters of a message, and of the frames behind it. A span is held until it is exported, and what is wrong with a body makes
 * a message as long as the body.
 */
const maximumText = 2_048;
const frame = '\n    at ';

/**
 * A reporter that records each exception, and what caused it, in the span of its request: first what was thrown, not what
 * the conversion made of it. Secrets in messages are masked.
 */
export const spanReporter: Reporter = {
  report(exception, requestContext) {
    const span = requestContext && serverSpanOf(requestContext);
    if (span?.isRecording()) recordWithCauses(span, ownFault(exception));
  },
};

function recordWithCauses(span: Span, exception: Error): void {
  let fault: unknown = exception;
  for (let count = 0; fault instanceof Error && count <= maximumCauses; count += 1) {
    const { name, message, stack } = fault;
    span.recordException({
      name,
      message: maskText(message, undefined, maximumText),
      // A refusal that its message explains has no frames, and a span would have that message twice.
      ...(stack?.includes(frame) && { stack: maskStack(stack, undefined, maximumText) }),
    });
    fault = fault.cause;
  }
}
