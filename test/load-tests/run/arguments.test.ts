import { describe, expect, it } from 'vitest';
import { catalogue } from '../../../load-tests/lib/catalogue.ts';
import { profiles } from '../../../load-tests/lib/profiles.ts';
import { baseFile, readArguments } from '../../../load-tests/run/arguments.ts';
import { helpText } from '../../../load-tests/run/help.ts';
import { read } from '../../house/repository.ts';

const none = {};

describe('readArguments', () => {
  it('reads a run with its defaults', () => {
    expect(readArguments(['read-one'], none)).toEqual({
      command: 'run',
      run: {
        ...{ scenarios: ['read-one'], profile: 'smoke', resources: [], target: undefined },
        ...{
          database: 'postgresql',
          size: 'full',
          bundle: false,
          everyScenario: false,
          rate: undefined,
          duration: undefined,
        },
        ...{ base: baseFile, saveBase: false, tolerance: 1.3, out: undefined, prometheus: undefined },
      },
    });
  });

  it('takes all scenarios, several lists and the variables of before', () => {
    const asked = readArguments(['all', 'load', '--resource', 'users,products'], { BASE_URL: 'http://localhost:3000' });
    expect(asked).toMatchObject({
      run: { scenarios: Object.keys(catalogue), resources: ['users', 'products'], target: 'http://localhost:3000' },
    });
  });

  it('takes the bundle in place of the sources', () => {
    expect(readArguments(['read-one', '--bundle'], none)).toMatchObject({ run: { bundle: true } });
  });

  it('takes some scenarios, with commas between', () => {
    expect(readArguments(['read-one,day'], none)).toMatchObject({ run: { scenarios: ['read-one', 'day'] } });
    expect(() => readArguments(['read-one,dusk'], none)).toThrow('got "dusk"');
  });

  it('names every problem at once, with what was expected', () => {
    const wrong = 'reed-one huge --database oracle --rate 0 --tolerance 1'.split(' ');
    expect(() => readArguments(wrong, { BASE_URL: '' })).toThrow(
      /one of all, list-shallow.*got "reed-one".*\n.*one of smoke.*got "huge".*\n.*postgresql or sqlite; got "oracle".*\n.*--rate.*"0".*\n.*--tolerance to be a number above 1/,
    );
    expect(() => readArguments(['compare', 'a'], none)).toThrow('two runs');
    expect(() => readArguments(['report', 'a'], none)).toThrow('Expected nothing behind report');
    expect(() => readArguments(['read-one', '--wat'], none)).toThrow("Unknown option '--wat'");
  });

  it.each([
    ['duration', '5', 'a time of a second or more with its unit'],
    ['duration', 'abc', 'a time of a second or more with its unit'],
    ['duration', '500ms', 'a time of a second or more with its unit'],
    ['rate', '2.5', 'a whole number from 1'],
    ['target', 'localhost:3000', 'an address such as'],
    ['prometheus', 'localhost', 'an address such as'],
    ['size', 'huge', 'small or full'],
    ['resource', 'users,', 'names of lists'],
    ['tolerance', 'much', 'a number above 1'],
    ['base', '', 'a text'],
    ['out', '', 'a text'],
  ])('refuses --%s "%s" before anything is started', (name, value, words) => {
    expect(() => readArguments(['read-one', `--${name}=${value}`], none)).toThrow(`Expected --${name} to be ${words}`);
  });

  it.each(['90s', '1.5m', '1h30m', '1500ms'])('takes the duration %s', (duration) => {
    expect(readArguments(['read-one', '--duration', duration], none)).toMatchObject({ run: { duration } });
  });

  it('refuses RATE and DURATION as it does their options', () => {
    expect(() => readArguments(['read-one'], { RATE: '0', DURATION: '5' })).toThrow(
      /--rate.*"0"[\s\S]*--duration.*"5"/,
    );
  });

  it.each([
    [['compare', 'a', 'b', '--rate', '5'], '--rate says nothing to compare'],
    [['manifest', 'day', '--target', 'http://slipway', '--save-base'], '--save-base says nothing to manifest'],
    [['day', '--kind', 'job'], '--kind says nothing to a run'],
    [['day', '--target', 'http://slipway', '--bundle'], '--bundle is of a service that is started here'],
  ])('refuses an option that would have no effect: %j', (args, message) => {
    expect(() => readArguments(args, none)).toThrow(message);
  });

  it('refuses to choose a database beside that of DATABASE_URL', () => {
    expect(() => readArguments(['day', '--database', 'sqlite'], { DATABASE_URL: 'postgresql://db' })).toThrow(
      'DATABASE_URL names another',
    );
  });

  it('gives help without arguments and when asked for', () => {
    expect([[], ['--help'], ['help'], ['read-one', '-h']].map((args) => readArguments(args, none).command)).toEqual(
      Array(4).fill('help'),
    );
  });
});

describe('the help and load-tests/README.md', () => {
  it.each(['help', 'README'])('name every scenario and profile: %s', (where) => {
    const text = where === 'help' ? helpText() : read('load-tests/README.md');
    const names = [...Object.keys(catalogue), ...Object.keys(profiles)];
    expect(names.filter((name) => !new RegExp(`(^|[\\s\`|])${name}([\\s\`|,]|$)`, 'm').test(text))).toEqual([]);
  });
});
