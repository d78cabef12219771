/** The path of a file as the driver takes it in a URL. */
export function sqliteUrl(path: string): string {
  return `file:${path.split('/').map(encodeURIComponent).join('/')}`;
}
