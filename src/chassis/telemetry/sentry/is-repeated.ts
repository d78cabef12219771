/** Each error that was reported, and the request in which it was last. */
const reported = new WeakMap<Error, string | undefined>();

/**
 * Whether a fault was reported before: the same error, or one that has a cause in common with it, in the same request
 * or, for a crash outside a request, in any. An error that fails many requests, such as a connection that was refused
 * once and is waited for by all, counts for each of them.
 */
export function isRepeated(chain: readonly Error[], requestId: string | undefined): boolean {
  const repeated = chain.some(
    (error) => reported.has(error) && (requestId === undefined || reported.get(error) === requestId),
  );
  for (const error of chain) reported.set(error, requestId);
  return repeated;
}
