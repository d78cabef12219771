const secondsOfUnit: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** How a duration is told to be, in messages. */
export const durationWords = 'a time of a second or more with its unit, such as 90s, 1.5m or 1h30m';

/** Seconds of a duration as k6 writes it, such as `90s` or `1h30m`; undefined where it is none, or below the second that k6 asks for. */
export function secondsOf(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return undefined;
  const parts = text.matchAll(/([\d.]+)([a-z]+)/g);
  const seconds = [...parts].reduce((sum, [, count, unit = '']) => sum + Number(count) * (secondsOfUnit[unit] ?? 0), 0);
  return seconds >= 1 ? seconds : undefined;
}
