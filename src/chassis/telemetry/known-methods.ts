/** The methods of HTTP. Node takes 25 others, of WebDAV and the like, which clients may send to any path. */
export const knownMethods: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'QUERY',
  'TRACE',
]);

/** What stands for all others, by OpenTelemetry's conventions. */
export const otherMethod = '_OTHER';
