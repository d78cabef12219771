/** A scenario as k6 is to run it, here or in a cluster. */
export interface ScenarioRun {
  readonly scenario: string;
  readonly profile: string;
  /** Address of the service. */
  readonly target: string;
  /** Path of the list; none takes the one with the most records. */
  readonly resource: string | undefined;
  readonly rate: string | undefined;
  readonly duration: string | undefined;
}

/** Has k6 neither report its use nor look for extensions elsewhere. */
export const quiet = { K6_NO_USAGE_REPORT: 'true', K6_AUTO_EXTENSION_RESOLUTION: 'false' };

/** The variables by which a scenario knows what it is to do. */
export function variablesOf({ profile, target, resource, rate, duration }: ScenarioRun): Record<string, string> {
  const all = { PROFILE: profile, BASE_URL: target, RESOURCE: resource, RATE: rate, DURATION: duration };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
