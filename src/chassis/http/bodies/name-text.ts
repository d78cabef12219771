import { z } from 'zod';

/** Letters, digits, signs and pictures, without those that no font shows, such as Hangul fillers and the blank of Braille. */
const visible = /[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]]/v;

/**
 * A schema for what people know somebody or something by in lists and logs: trimmed, with a visible character at least, and
 * without control characters and those that change the direction of text.
 *
 * @param most characters at most
 */
export function nameText(most: number): z.ZodString {
  return z
    .string()
    .trim()
    .min(1, 'Expected at least 1 character')
    .max(most, `Expected at most ${most} characters`)
    .regex(
      /^[ -~\u00a0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\uffff]*$/,
      'Expected no control characters, nor any that change the direction of text',
    )
    .refine((text) => text === '' || visible.test(text), 'Expected at least 1 visible character');
}
