const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;

/**
 * What `X-Request-Deadline` says: when the caller stops waiting, in milliseconds since 1970, written as such or as a
 * date and time with its offset (RFC 3339). Undefined where the header is missing or says neither.
 */
export function readDeadline(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{12,14}$/.test(header)) return Number(header);
  const time = dateTime.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
