import { catalogue } from '../lib/catalogue.ts';
import { profiles } from '../lib/profiles.ts';

/** What `npm run load -- help` prints. */
export function helpText(): string {
  return `Puts a service under load with k6 and says what came of it.

  npm run load -- <scenario[,scenario…]|all> [profile] [options]
  npm run load -- compare <run> <run> [--tolerance 1.3]
  npm run load -- manifest <scenario> [profile] --target URL [--kind job] [--image NAME]
  kubectl logs job/load-<scenario> | npm run load -- report

Paths, fields and includes come from the OpenAPI document of the service, so every list of it has these scenarios.
Without --target the service starts here as in production, on a database of its own with sample data, and ends with
the run. A run fails when a request or a check fails, a threshold is crossed, or it is slower than the base.

Scenarios
${rows(Object.entries(catalogue).map(([name, { says }]) => [name, says]))}

Profiles
${rows(Object.entries(profiles).map(([name, { says, model, rate, duration }]) => [name, `${says} (${model === 'closed' ? `${rate} users` : `${rate} iterations/s`}, ${duration})`]))}

Options
${rows([
  [
    '--resource products',
    'the list, by name or path; several with commas, or all (default: the one with most records)',
  ],
  ['--target URL', 'a service that runs already (or BASE_URL)'],
  [
    '--database sqlite',
    'what the service starts on: postgresql (default) or sqlite; DATABASE_URL names one that is there',
  ],
  ['--size small', 'its sample data: 100,000 products (full, the default) or 1,000 (small)'],
  ['--bundle', 'the service is what `npm run build` made, as in the image (default: its sources)'],
  [
    '--rate 50',
    'iterations per second at the height of the profile, of which heavy scenarios take a part; users of a closed one',
  ],
  ['--duration 2m', 'how long the height lasts; ramps take a quarter of it at most'],
  ['--every-scenario', 'fails where a scenario was left out of every list, because none has what it takes'],
  ['--save-base', 'keeps this run, if all of it passes, as the base that later runs like it may not fall behind'],
  ['--base FILE', 'where the base is kept (default: .cache/load/base.json)'],
  ['--tolerance 1.3', 'how many times as slow a run may be as its base'],
  ['--out FOLDER', 'where report.json, report.html and junit.xml go (default: .cache/load/runs/<time>)'],
  ['--kind job', 'a manifest without the k6 operator (default: testrun)'],
  ['--image NAME', 'its image of k6, of a registry of your own (default: docker.io/grafana/k6)'],
  ['--prometheus URL', 'sends the metrics of k6 there by remote write, e.g. http://localhost:9090/api/v1/write'],
])}

Variables
${rows([
  ['LOAD_EMAIL, LOAD_PASSWORD', 'a login, for what takes credentials; a service started here has one'],
  ['TOKEN', 'a bearer token in its place'],
  ['OPENAPI_FILE', 'the OpenAPI document, of a service that does not serve it'],
  ['STEADY=false', 'others write meanwhile: totals and neighbouring pages may change'],
])}

A run to compare is a folder, its report.json, "last", "previous" or "base". A manifest is for kubectl apply -f -`;
}

function rows(entries: [name: string, says: string][]): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, says]) => `  ${name.padEnd(width)}  ${says}`).join('\n');
}
