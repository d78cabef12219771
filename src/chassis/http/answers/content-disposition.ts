/** Has a browser store an answer under this name (RFC 6266), in both forms, without what would end or lead out of it. */
export function contentDisposition(filename: string): string {
  const plain = filename.replaceAll(/[^\w.\- ]/g, '_');
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll("'", '%27');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
