/** Whether a service with this `DATABASE_URL` has a database; one of `none` has not. */
export function hasDatabase(url: string): boolean {
  return url !== 'none';
}
