type Variables = Readonly<Record<string, string | undefined>>;

/** A variable that is no setting, and the unset setting that is written almost alike. */
export interface MisspeltVariable {
  name: string;
  meant: string;
}

/** Shorter names, such as HOST and PORT, are too close to other words. */
const shortestName = 6;
/** From this length on two mistakes are taken for one of typing. */
const longName = 16;
/** Names of OpenTelemetry's specification that are close to settings and are none. */
const others = /^OTEL_BLRP_/;

/**
 * The variables whose names are probably those of settings, misspelt: one letter that is wrong, missing or too many, or two
 * swapped, in long names twice that; upper and lower case are alike. A setting that has a value is not what another name meant.
 *
 * @param settings names of all settings; `NAME_FILE` of each is known as well
 */
export function misspeltVariables(variables: Variables, settings: readonly string[]): MisspeltVariable[] {
  const isSet = (name: string) => Boolean(variables[name] || variables[`${name}_FILE`]);
  const known = new Set(settings.flatMap((name) => [name, `${name}_FILE`]));
  const unset = settings.filter((name) => name.length >= shortestName && !isSet(name));
  const meant = unset.flatMap((name) => [name, `${name}_FILE`]).map((name) => ({ name, letters: lettersOf(name) }));
  return Object.keys(variables)
    .filter((name) => variables[name] && !known.has(name) && !others.test(name) && !isServiceLink(name, variables))
    .flatMap((name) => {
      const found = closest(name, meant);
      return found === undefined ? [] : [{ name, meant: found }];
    });
}

/** Kubernetes sets `X_PORT` in every pod for a Service named x. */
function isServiceLink(name: string, variables: Variables): boolean {
  return name.endsWith('_PORT') && `${name.slice(0, -'_PORT'.length)}_SERVICE_HOST` in variables;
}

/** The closest of the names, where one is close. */
function closest(name: string, names: readonly { name: string; letters: number }[]): string | undefined {
  const upper = name.toUpperCase();
  const letters = lettersOf(upper);
  // Each start compares all variables with all settings: nearly all of them end here.
  const alike = names.filter((other) => areFew(letters & ~other.letters) && areFew(other.letters & ~letters));
  const isClose =
    (mistakes: number) =>
    ({ name: other }: { name: string }) =>
      isWithin(mistakes, upper, other);
  return (alike.find(isClose(1)) ?? alike.filter((other) => other.name.length >= longName).find(isClose(2)))?.name;
}

/** Which letters a name has, a bit each: a mistake adds one at most, and takes one at most away. */
function lettersOf(name: string): number {
  let letters = 0;
  for (let index = 0; index < name.length; index += 1) letters |= 1 << (name.charCodeAt(index) & 31);
  return letters;
}

/** Whether at most two bits are set. */
function areFew(bits: number): boolean {
  const withoutOne = bits & (bits - 1);
  return (withoutOne & (withoutOne - 1)) === 0;
}

/** Whether at most so many letters changed, added, left out or swapped with the next make one name of the other. */
function isWithin(mistakes: number, one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > mistakes) return false;
  if (mistakes === 0) return one === other;
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  const [a, b] = [one.slice(same), other.slice(same)];
  if (a === '' && b === '') return true;
  const left = mistakes - 1;
  const isSwapped = a.length > 1 && a[0] === b[1] && a[1] === b[0];
  return (
    isWithin(left, a.slice(1), b.slice(1)) ||
    isWithin(left, a.slice(1), b) ||
    isWithin(left, a, b.slice(1)) ||
    (isSwapped && isWithin(left, a.slice(2), b.slice(2)))
  );
}
