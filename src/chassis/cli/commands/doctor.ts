import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { AppConfig } from '../../config/app-config.ts';
import { Configuration, type Environment, type Variables } from '../../config/environment.ts';
import { importFile, sourceExtension, sourcesDirectory } from '../../config/layout.ts';
import { chartFinding } from '../doctor/chart-finding.ts';
import { databaseFinding } from '../doctor/database-finding.ts';
import { endpointFindings } from '../doctor/endpoint-findings.ts';
import type { Finding } from '../doctor/model-findings.ts';
import { modelFindings } from '../doctor/model-findings.ts';

/**
 * Looks for what keeps the service of the working directory from running well, and says how to mend it.
 *
 * @throws Error where something is wrong
 */
export async function doctor(args: string[], env: Variables): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean' } }, args });
  const { settings, finding } = await readSettings(env);
  const findings = [
    nodeFinding(),
    ...modelFindings(),
    finding,
    ...(settings ? [await databaseFinding(settings), ...(await endpointFindings(settings))] : []),
    chartFinding(process.cwd()),
  ].filter((one) => one !== undefined);
  const wrong = findings.filter(({ mend }) => mend !== undefined);
  if (values.json) console.log(JSON.stringify(findings, undefined, 2));
  else console.log(findings.map(lineOf).join('\n'));
  if (wrong.length > 0) throw new Error(`To be mended: ${wrong.length} of ${findings.length}.`);
}

function lineOf({ what, found, mend }: Finding): string {
  return mend === undefined
    ? `ok      ${what}: ${found}`
    : `MEND    ${what}: ${found}\n        ${mend.replaceAll('\n', '\n        ')}`;
}

const leastNode = 24;

function nodeFinding(): Finding {
  const found = process.versions.node;
  const isOld = Number.parseInt(found, 10) < leastNode;
  return {
    what: 'Node',
    found,
    ...(isOld && {
      mend: `Services run on Node ${leastNode} or newer: call this by "npx slipway", or install Node ${leastNode}.`,
    }),
  };
}

async function readSettings(env: Variables): Promise<{ settings?: Environment; finding: Finding }> {
  const what = 'configuration';
  try {
    const { appConfig } = await importFile(join(sourcesDirectory, `app.config${sourceExtension}`));
    const { settings, misspelt } = new Configuration(env, (appConfig(env) as AppConfig).moduleSettings);
    const meant = misspelt.map(
      ({ name, meant: setting }) => `${name} is not a setting; ${setting} was probably meant.`,
    );
    const finding = { what, found: settings.NODE_ENV, ...(meant.length > 0 && { mend: meant.join('\n') }) };
    return { settings, finding };
  } catch (error) {
    return { finding: { what, found: 'cannot be read', mend: error instanceof Error ? error.message : String(error) } };
  }
}
