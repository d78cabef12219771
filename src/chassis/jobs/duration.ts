const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A length of time as authors write it: a whole number and `ms`, `s`, `m`, `h` or `d`, such as `'30s'`. */
export type Duration = `${number}${keyof typeof units}`;

/** The longest that a duration may be, in days. */
const longestDays = 365;

/** A duration in milliseconds; undefined for any other text and for more than 365 days. */
export function durationMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (unit === undefined) return undefined;
  const ms = Number(count) * units[unit as keyof typeof units];
  return ms <= longestDays * units.d ? ms : undefined;
}
