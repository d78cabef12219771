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
