import { getRequestContext } from '../../context/request-context.ts';
import { currentWaiters, isAbandoned } from '../../context/uninterrupted.ts';
import { RequestAbandonedException, ServiceUnavailableException } from '../../errors/exceptions.ts';

/**
 * Ends a request for which no further query makes sense. Does nothing outside a request, within `uninterrupted`, and in
 * a shared read while another request waits for it.
 *
 * @throws RequestAbandonedException when its client has gone or it was answered already, ServiceUnavailableException when
 * its deadline has passed
 */
export function stopAbandoned(): void {
  const context = getRequestContext();
  if (context === undefined) return;
  const { abortReason, deadline } = context;
  if (abortReason === undefined && (deadline === undefined || Date.now() < deadline)) return;
  if (!isAbandoned(currentWaiters())) return;
  if (abortReason !== undefined) throw new RequestAbandonedException(abortReason);
  throw new ServiceUnavailableException('The deadline of the request has passed');
}
