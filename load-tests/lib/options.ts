import type { Options, Threshold } from 'k6/options';
import { catalogue, type ScenarioName } from './catalogue.ts';
import { durationWords, secondsOf } from './duration.ts';
import { type Profile, type ProfileName, profiles } from './profiles.ts';

/** Name of the profile that PROFILE chose. Default: smoke. */
export const profileName = (__ENV['PROFILE'] ?? 'smoke') as ProfileName;

/** How often a request is sent again that is answered "not now". */
export const retries: number =
  (Object.hasOwn(profiles, profileName) && (profiles[profileName] as Profile).retries) || 0;

/**
 * Options of a scenario under the profile of this run. Besides its own thresholds no check may fail, no iteration may be
 * dropped and no request may fail, other than as the profile says.
 *
 * @param limits milliseconds of p95 and p99, of all requests or of those with a name, under profiles that judge times
 */
export function optionsOf(scenario: ScenarioName, limits: Record<string, [p95: number, p99: number]>): Options {
  const profile = chosenProfile();
  const { rate, seconds } = heightOf(scenario);
  return {
    scenarios: { [scenario]: profile.scenario(rate, seconds) },
    thresholds: { ...common(profile), ...counted(scenario), ...latencies(profile, scenario, limits) },
    summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max', 'min', 'count'],
    userAgent: `k6 ${scenario}`,
    noCookiesReset: true,
    setupTimeout: '60s',
    systemTags: ['status', 'method', 'name', 'check', 'error_code', 'scenario', 'expected_response', 'group'],
  };
}

/**
 * The height of a run: what its profile says, or RATE and DURATION.
 *
 * @returns iterations per second, by the weight of the scenario, or users of a closed model, and for how many seconds
 * @throws Error where RATE or DURATION is none
 */
export function heightOf(scenario: ScenarioName): { rate: number; seconds: number } {
  const { model, ...profile } = chosenProfile();
  const [rate, duration] = [Number(__ENV['RATE'] ?? profile.rate), __ENV['DURATION'] ?? profile.duration];
  if (!Number.isInteger(rate) || rate < 1)
    throw new Error(`Expected RATE to be a whole number from 1; got "${__ENV['RATE']}".`);
  const seconds = secondsOf(duration);
  if (seconds === undefined) throw new Error(`Expected DURATION to be ${durationWords}; got "${duration}".`);
  const weighted = Math.max(1, Math.round(catalogue[scenario].weight * rate));
  return { rate: model === 'closed' ? rate : weighted, seconds };
}

function chosenProfile(): Profile {
  if (Object.hasOwn(profiles, profileName)) return profiles[profileName];
  throw new Error(`Expected PROFILE to be one of ${Object.keys(profiles).join(', ')}; got "${profileName}".`);
}

function common({ kind, model }: Profile): NonNullable<Options['thresholds']> {
  // A run that looks for the breaking point ends there.
  const last = (threshold: string): Threshold =>
    kind === 'breaking' ? { threshold, abortOnFail: true, delayAbortEval: '5s' } : { threshold, abortOnFail: false };
  return {
    checks: ['rate==1'],
    [kind === 'shedding' ? 'lost_requests' : 'http_req_failed']: [last(kind === 'shedding' ? 'count==0' : 'rate==0')],
    ...(model === 'open' && { dropped_iterations: [last('count==0')] }),
  };
}

/** A threshold has k6 count by itself what it is of: here, all but the setup. */
function counted(scenario: string): NonNullable<Options['thresholds']> {
  const own = `{scenario:${scenario}}`;
  return {
    [`http_req_duration${own}`]: ['p(99)>=0'],
    // A run without one measured nothing.
    [`http_reqs${own}`]: ['count>0'],
    [`data_received${own}`]: ['count>=0'],
  };
}

function latencies({ kind, timed }: Profile, scenario: string, limits: Record<string, [p95: number, p99: number]>) {
  const all = `http_req_duration{scenario:${scenario}}`;
  if (kind === 'breaking') return { [all]: [{ threshold: 'p(95)<1000', abortOnFail: true, delayAbortEval: '5s' }] };
  const entries = Object.entries(limits).map(([name, [p95, p99]]) => [
    name === 'all' ? all : `http_req_duration{name:${name}}`,
    timed ? [`p(95)<${p95}`, `p(99)<${p99}`] : ['p(99)>=0'],
  ]);
  return Object.fromEntries(entries) as Record<string, string[]>;
}
