import { BadRequestException } from '../errors/exceptions.ts';

/** What fills a path: the parameters in braces, and the query. */
export interface PathParameters {
  path?: Readonly<Record<string, unknown>> | undefined;
  query?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The path of a call with its parameters put in and its query behind it. A list in the query is repeated, as OpenAPI has it
 * by default; what is undefined is left out.
 *
 * @param template e.g. `/charges/{id}`
 * @throws TypeError for a parameter that is missing
 * @throws BadRequestException for one that is empty, holds half of a character, or would lead to another path, such as `..`
 */
export function peerPath(template: string, { path = {}, query = {} }: PathParameters): string {
  const filled = template.replace(/\{([^{}]+)\}/g, (_, name: string) => segmentOf(template, name, path[name]));
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === undefined ? [] : [[name, textOf(one)] as [string, string]])),
  );
  return pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(pairs)}`;
}

function segmentOf(template: string, name: string, value: unknown): string {
  if (value === undefined || value === null) {
    throw new TypeError(`Expected a value for {${name}} of ${template}, found ${value}.`);
  }
  const text = textOf(value);
  if (text !== '' && text !== '.' && text !== '..' && text.isWellFormed()) return encodeURIComponent(text);
  // It mostly comes from the request under way, whose client learns nothing of the peer.
  throw new BadRequestException('Invalid request data', undefined, {
    context: { template, parameter: name, found: text },
  });
}

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
