const maximumLength = 6;

/** An error and its causes that are errors too, outermost first, at most six. */
export function causeChain(error: Error): Error[] {
  const chain = [error];
  for (let next = error.cause; next instanceof Error && chain.length < maximumLength; next = next.cause) {
    if (chain.includes(next)) break;
    chain.push(next);
  }
  return chain;
}
