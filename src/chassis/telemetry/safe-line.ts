import { boundText, maximumText } from './bound-text.ts';
import { type LogMasks, maskText } from './redact.ts';
import { suspicious } from './secret-names.ts';

/** What stands before the message of a line, which is its last field. */
const messageKey = ',"msg":';
/** Of level, time and ids a line keeps these, however long it is. */
const lineHead = /^\{"level":"\w+","time":\d+(?:,"requestId":"[^"]*")?(?:,"traceId":"[^"]*")?/;
const maximumLine = 65_536;
const maximumFields = 16_384;

/**
 * A line of the log with its message masked and cut, which often is that of a library that tells whom it could not reach,
 * and how. Of a line above 64 KB the beginning of its fields is left, as text. Most lines cost a look at their message.
 *
 * @param masks what is masked beside what always is
 */
export function safeLine(line: string, masks: LogMasks): string {
  const start = line.lastIndexOf(messageKey);
  if (start === -1) return line.length > maximumLine ? cutLine(line, '""') : line;
  const end = line.lastIndexOf('}');
  const written = line.slice(start + messageKey.length, end);
  const message = written.length > maximumText || suspicious.test(written) ? safeMessage(written, masks) : written;
  if (line.length > maximumLine) return cutLine(line.slice(0, start), message);
  return message === written ? line : line.slice(0, start + messageKey.length) + message + line.slice(end);
}

function safeMessage(written: string, masks: LogMasks): string {
  return JSON.stringify(maskText(JSON.parse(written), masks));
}

/** A message without end makes a long line, whose fields may be short. */
function cutLine(fields: string, message: string): string {
  if (fields.length <= maximumLine) return `${fields}${messageKey}${message}}\n`;
  const head = lineHead.exec(fields)?.[0] ?? '{"level":"error"';
  return `${head},"cut":${JSON.stringify(boundText(fields.slice(head.length), maximumFields))}${messageKey}${message}}\n`;
}
