import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { BadRequestException, UnsupportedMediaTypeException } from '../../errors/exceptions.ts';

const charsetParameter = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i;

/** The character set that a Content-Type names, in lower case; UTF-8 where it names none. */
export function charsetOf(contentType: string): string {
  if (!contentType.includes(';')) return 'utf-8';
  const [, quoted, plain] = charsetParameter.exec(contentType) ?? [];
  return (quoted ?? plain ?? 'utf-8').toLowerCase();
}

/**
 * Bytes as text, without a byte order mark.
 *
 * @throws UnsupportedMediaTypeException for an unknown character set; BadRequestException for bytes that are none of it,
 * because decoding would put U+FFFD in their place and store what nobody sent
 */
export function decodeText(bytes: Buffer, charset: string): string {
  if (charset === 'utf-8' || charset === 'utf8') {
    if (!isUtf8(bytes)) throw broken('UTF-8');
    const text = bytes.toString();
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
  const decoder = decoderOf(charset);
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw broken(decoder.encoding.toUpperCase(), cause);
  }
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch (cause) {
    throw unsupportedCharset(charset, cause);
  }
}

/** What a body in a character set that the service does not read is refused with. */
export function unsupportedCharset(charset: string, cause?: unknown): UnsupportedMediaTypeException {
  const message = `Character set ${JSON.stringify(charset.slice(0, 100))} is not supported; send UTF-8`;
  return new UnsupportedMediaTypeException(message, undefined, { cause });
}

function broken(charset: string, cause?: unknown): BadRequestException {
  return new BadRequestException(`The request body is not valid ${charset}`, undefined, { cause });
}
