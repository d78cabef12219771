import { join } from 'node:path';
import { defaultStackParser, type StackFrame } from '@sentry/node';
import { sourcesDirectory } from '../../config/layout.ts';

/** Files are named from here on. */
const root = join(sourcesDirectory, '../');

/**
 * What makes two faults the same issue: the classes of the exception and its causes, the place in the service's own
 * code where the innermost was raised (file and function, as line numbers move with each release), and the route.
 * Messages take no part, because they hold values.
 */
export function faultFingerprint(chain: readonly Error[], route: string): string[] {
  const frame = raisedAt(chain);
  const place = frame ? `${frame.filename?.split('/').slice(-2).join('/')} ${frame.function}` : 'unknown place';
  return [chain.map(({ name }) => name).join(' < '), place, route];
}

/** Where a fault was raised, as people look for it: `src/modules/orders/order.service.ts:41 in OrderService.get`. */
export function faultCulprit(chain: readonly Error[]): string | undefined {
  const frame = raisedAt(chain);
  return frame && `${frame.filename?.replace(root, '')}:${frame.lineno} in ${frame.function}`;
}

/**
 * The innermost frame of the service's own code, and of a module's rather than of the chassis, which raises what modules
 * asked for. The innermost error may have been raised by a library with no frame of ours: then the one around it says more.
 */
function raisedAt(chain: readonly Error[]): StackFrame | undefined {
  const own = chain.toReversed().map((error) => parseOwnFrames(String(error.stack)).filter(({ in_app }) => in_app));
  const ofModules = own.map((frames) => frames.findLast(({ filename }) => !filename?.includes('/chassis/')));
  return ofModules.find(Boolean) ?? own.map((frames) => frames.at(-1)).find(Boolean);
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
