/** Where a run was made, and of what. Runs of unlike origins say nothing of each other's times. */
export interface Origin {
  /** What k6 ran on: a machine, or a node of a cluster. */
  readonly machine: string;
  /** What was under load: the sources or the bundle, started for the run, or the address of a service that ran already. */
  readonly service: string;
  readonly database: string;
  /** Version of the service, of its OpenAPI document. */
  readonly version: string;
  /** The commit of a service that was started for the run, and its Node. */
  readonly revision: string;
  readonly k6: string;
}

const unknown = 'unknown';

/** Reads what the command, or the manifest of a Job, says of a run as JSON. k6 alone knows the target only. */
export function readOrigin(json: string | undefined, target: string): Origin {
  const told = json ? (JSON.parse(json) as Partial<Origin>) : {};
  return {
    ...{ machine: unknown, service: target, database: unknown, version: unknown, revision: unknown, k6: unknown },
    ...told,
  };
}
