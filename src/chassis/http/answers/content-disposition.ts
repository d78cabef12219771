/**
 * The header that has a browser save a response under this name (RFC 6266), in both forms, without characters that would
 * end the header or leave the directory.
 */
export function contentDisposition(filename: string): string {
  const plain = filename.replaceAll(/[^\w.\- ]/g, '_');
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll("'", '%27');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
