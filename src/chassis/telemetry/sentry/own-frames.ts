import { defaultStackParser } from '@sentry/node';

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
