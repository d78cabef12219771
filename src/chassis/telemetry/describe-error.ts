/**
 * What a log says of an error: type, message, code and the stack with those of its causes. Nothing else, because errors
 * of clients and drivers carry requests, headers and connection strings. Other values are given back as they are.
 */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = (error as { code?: unknown }).code;
  return { type: error.name, message: error.message, ...(code !== undefined && { code }), stack: chainedStack(error) };
}

function chainedStack(error: Error, depth = 0): string | undefined {
  const { cause, stack } = error;
  if (!(cause instanceof Error) || depth === 5 || stack?.includes('\nCaused by: ')) return stack;
  return `${stack}\nCaused by: ${chainedStack(cause, depth + 1)}`;
}
