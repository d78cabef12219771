import { defaultStackParser } from '@sentry/node';

/**
 * What makes two faults the same issue: the classes of the exception and its causes, the place in the service's own
 * code where the innermost was raised (file and function, as line numbers move with each release), and the route.
 * Messages take no part, because they hold values.
 */
export function faultFingerprint(chain: readonly Error[], route: string): string[] {
  return [chain.map(({ name }) => name).join(' < '), raisedAt(chain), route];
}

/** The innermost error may have been raised by a library with no frame of ours: then the one around it says more. */
function raisedAt(chain: readonly Error[]): string {
  for (const error of chain.toReversed()) {
    const frame = parseOwnFrames(String(error.stack)).findLast(({ in_app }) => in_app);
    if (frame) return `${frame.filename?.split('/').slice(-2).join('/')} ${frame.function}`;
  }
  return 'unknown place';
}

/**
 * Reads the frames of an error itself: the first run of `at` lines of its stack. An exception's stack goes on with the
 * stacks of its causes, which Sentry shows one by one, and messages of several lines stand before it.
 */
export const parseOwnFrames: typeof defaultStackParser = (stack, _skipFirstLines, framesToPop) =>
  defaultStackParser(ownLines(stack), 0, framesToPop);

function ownLines(stack: string): string {
  const lines = stack.split('\n');
  const first = lines.findIndex(isFrame);
  if (first === -1) return '';
  const after = lines.findIndex((line, index) => index > first && !isFrame(line));
  return lines.slice(first, after === -1 ? undefined : after).join('\n');
}

function isFrame(line: string): boolean {
  return line.startsWith('    at ');
}
