import {
  DatabaseUnavailableException,
  RequestAbandonedException,
  ServiceUnavailableException,
} from '../../errors/exceptions.ts';
import { ReadTooLongException } from '../client/read-room.ts';

const finalErrors = [
  DatabaseUnavailableException,
  RequestAbandonedException,
  ServiceUnavailableException,
  ReadTooLongException,
];

/** Whether a read failed with what the ORM would meet too, so that it need not try. */
export function isFinal(error: unknown): boolean {
  return finalErrors.some((Final) => error instanceof Final);
}
