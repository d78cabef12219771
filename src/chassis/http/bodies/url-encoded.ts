import { malformedUrl } from '../../errors/convert-http-error.ts';
import { BadRequestException } from '../../errors/exceptions.ts';

const maximumPairs = 1_000;

/**
 * The names and values of a query string or an URL-encoded body, without a prototype.
 *
 * @throws BadRequestException when percent-encoding is malformed, a name is `__proto__` or comes twice, or there are
 * more than 1,000 names
 */
export function parseUrlEncoded(text: string): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  if (text === '') return values;
  const pairs = text.split('&', maximumPairs + 1);
  if (pairs.length > maximumPairs) throw invalid('', `Expected at most ${maximumPairs} parameters, found more`);
  for (const pair of pairs) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (name === '__proto__') throw invalid(name, 'A parameter of this name is refused');
    if (name in values) throw invalid(name, 'Expected this parameter once, found it several times');
    values[name] = equals === -1 ? '' : decode(pair.slice(equals + 1));
  }
  return values;
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch (cause) {
    throw new BadRequestException(malformedUrl, undefined, { cause });
  }
}

function invalid(name: string, message: string): BadRequestException {
  return new BadRequestException('Invalid request data', { issues: [{ path: name.slice(0, 100), message }] });
}
