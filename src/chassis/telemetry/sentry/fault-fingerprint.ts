import { parseOwnFrames } from './own-frames.ts';

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
