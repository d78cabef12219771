/**
 * What CHANGELOG.md says of all versions after one, newest first, and of what is not released.
 *
 * @param changelog its text
 * @param version the version that a service has, such as `1.0.0`
 */
export function changesSince(changelog: string, version: string): string {
  const [, ...sections] = changelog.split(/^(?=## )/m);
  const newer = sections.filter((section) => {
    const named = /^## (\d+\.\d+\.\d+)/.exec(section)?.[1];
    return named === undefined || isNewer(named, version);
  });
  return newer.join('').trim();
}

/** Whether a version comes after another one; what stands behind a hyphen is not compared. */
export function isNewer(version: string, other: string): boolean {
  const [own, others] = [version, other].map((text) => text.split(/[.-]/).slice(0, 3).map(Number));
  const differs = own?.findIndex((part, index) => part !== others?.[index]) ?? -1;
  return differs !== -1 && (own?.[differs] ?? 0) > (others?.[differs] ?? 0);
}
