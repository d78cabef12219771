/** The characters that change the direction of text: `invoice\u202Efdp.exe` is shown as `invoiceexe.pdf`. */
const bidi = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** A text that is shown in the order in which it is written. */
export function withoutBidi(text: string): string {
  return text.replaceAll(bidi, '');
}

/**
 * The header that has a browser save a response under this name (RFC 6266), in both forms, without characters that would
 * end the header, leave the directory or hide the extension.
 */
export function contentDisposition(filename: string): string {
  const shown = withoutBidi(filename);
  const plain = shown.replaceAll(/[^\w.\- ]/g, '_');
  const encoded = encodeURIComponent(shown.toWellFormed()).replaceAll("'", '%27');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
