import { AsyncResource } from 'node:async_hooks';

const everyMs = 10_000;

/**
 * For lines of the log about what may happen thousands of times a second: writes one for the first event at once, and while
 * any follow one every ten seconds that sums them up, until the process ends. Lines carry no request's id: they speak of many.
 *
 * @param write writes a line of so many events, of which it knows the last
 * @returns to be called for each event
 */
export function throttledLine<Event = void>(write: (events: number, last: Event) => void): (event: Event) => void {
  let timer: NodeJS.Timeout | undefined;
  let events = 0;
  let last: Event;
  const tell = AsyncResource.bind(() => {
    timer = undefined;
    if (events === 0) return;
    const told = events;
    events = 0;
    timer = setTimeout(tell, everyMs).unref();
    write(told, last);
  });
  return (event) => {
    events += 1;
    last = event;
    if (timer === undefined) tell();
  };
}
