import { close, open, read } from 'node:fs';
import { currentClientKey } from '../../context/request-context.ts';
import { AddressTurns } from '../../http/streams/address-turns.ts';

/** Pieces of 64 KB that are read and handed to clients in one turn of the event loop: they take half a millisecond. */
const atOnce = 8;

const turns = new AddressTurns(atOnce);

type Done = (error: NodeJS.ErrnoException | null, bytes: number, buffer: Buffer) => void;

/**
 * What the stream of a file opens, reads and closes it with: a few pieces at once, of each client address in turn. Hundreds of
 * long files, of which each goes on as soon as its client has read, would leave no time to anything else.
 */
export const pacedReads = {
  open,
  close,
  read(fd: number, buffer: Buffer, offset: number, length: number, position: number | null, done: Done): void {
    const begin = () =>
      read(fd, buffer, offset, length, position, (error, bytes, piece) => {
        turns.leave();
        done(error, bytes, piece);
      });
    // A promise keeps the context of the request, which whoever gives back its place does not have.
    const turn = turns.come(currentClientKey());
    if (turn === undefined) begin();
    else void turn.then(begin);
  },
};
