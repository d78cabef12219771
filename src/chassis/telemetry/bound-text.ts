/** Characters of one text that a log, a span or a monitor gets at most. */
export const maximumText = 8_192;

/** Where the frames of a stack begin, behind its message. */
export const stackFrames = /\n {4}at /;

/** A text cut to its beginning, with a note of what it lacks; one that is short enough is returned as it is. */
export function boundText(text: string, maximum = maximumText): string {
  if (text.length <= maximum) return text;
  return `${text.slice(0, maximum)}… (${text.length - maximum} characters left out)`;
}
