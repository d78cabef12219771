const everyMs = 10_000;

/**
 * For lines of the log about what may happen thousands of times a second: the first time is written at once, what follows in
 * one line at the end of each ten seconds in which something did. So the lines together tell of all of it.
 *
 * @param write writes a line: how often it happened since the one before, and what there is to say of the last time
 * @returns to be called each time that it happened
 */
export function everyTenSeconds<Facts = void>(write: (times: number, last: Facts) => void): (facts: Facts) => void {
  let timer: NodeJS.Timeout | undefined;
  let times = 0;
  let last: Facts;
  const tell = () => {
    timer = undefined;
    if (times === 0) return;
    write(times, last);
    times = 0;
    timer = setTimeout(tell, everyMs).unref();
  };
  return (facts) => {
    times += 1;
    last = facts;
    if (timer === undefined) tell();
  };
}
