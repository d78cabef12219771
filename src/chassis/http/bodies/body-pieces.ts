import { getRequestContext } from '../../context/request-context.ts';

/**
 * A request is charged for each so many pieces of its body, with so much: those of a megabyte in chunks of 64 bytes keep the
 * process busy for 45 ms, those of one that is not chopped up for nothing.
 */
const chargedPieces = 250;
const costOfPieces = 10;

/**
 * Counts the pieces in which the body of the request under way comes in, wherever it is called for each of them.
 *
 * @throws what `chargeRequest` raises, from the function that it gives
 */
export function pieceCounter(): () => void {
  const context = getRequestContext();
  let count = 0;
  return () => {
    count += 1;
    if (count % chargedPieces === 0) context?.charge?.(costOfPieces);
  };
}

/** What is shorter is left to the garbage collector, in bytes. */
const leastBytes = 512;

/**
 * Gives the memory of bytes back at once; nothing may use them any more, nor a part of them. By itself V8 gives back what
 * lies outside of its heap only once it collects garbage: while many large bodies come in, that is several times what they
 * hold, and the C library keeps most of it. Bytes that share their memory with others stay as they are.
 */
export function giveBack({ buffer, length }: Buffer): void {
  if (length >= leastBytes && length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
