/** What those ask for, every few seconds, who decide whether the service lives and gets requests. */
export const probePaths = ['/livez', '/readyz'] as const;

const probe = /^\/(?:livez|readyz)\/?(?:\?|$)/;

/** Whether a path, with its query or without, is one of them; `/` at its end is the same path, capitals are not. */
export function isProbePath(path: string): boolean {
  return probe.test(path);
}
