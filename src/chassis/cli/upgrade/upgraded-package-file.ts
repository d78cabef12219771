import { ownPackage, packageFile } from '../service/package-file.ts';
import { isNewer } from './changes-since.ts';

interface PackageFile {
  readonly name: string;
  readonly scripts?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly [key: string]: unknown;
}

/**
 * package.json of a service with the versions that this version of the chassis is tested with, of the packages that it
 * names in older ones, and with the scripts that it lacks. All else stays.
 *
 * @param text package.json as it is
 * @param slipway where npm finds the chassis
 */
export function upgradedPackageFile(text: string, slipway: string, own = ownPackage()): string {
  const given = JSON.parse(text) as PackageFile;
  const fresh = JSON.parse(
    packageFile({ name: given.name, slipway, auth: 'none', database: 'both' }, own),
  ) as Required<PackageFile>;
  const known = { ...fresh.devDependencies, ...fresh.dependencies };
  const upgraded = (packages: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(packages).map(([name, version]) => [name, newerOf(version, known[name])]));
  const content = {
    ...given,
    scripts: { ...fresh.scripts, ...given.scripts },
    dependencies: upgraded(given.dependencies),
    devDependencies: upgraded(given.devDependencies),
    overrides: { ...(given['overrides'] as object | undefined), ...(fresh['overrides'] as object) },
    allowScripts: { ...(fresh['allowScripts'] as object), ...(given['allowScripts'] as object | undefined) },
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

/** A service that went ahead of the chassis with a package stays there. */
function newerOf(given: string, known = given): string {
  const [own, tested] = [given, known].map((range) => range.replace(/^[\^~>=v\s]+/, ''));
  return isNewer(own as string, tested as string) ? given : known;
}
