import { describe, expect, it } from 'vitest';
import { catalogue } from '../../../load-tests/lib/catalogue.ts';
import { profiles } from '../../../load-tests/lib/profiles.ts';
import { readArguments } from '../../../load-tests/run/arguments.ts';
import { helpText } from '../../../load-tests/run/help.ts';
import { read } from '../../house/repository.ts';

const none = {};

describe('readArguments', () => {
  it('reads a run with its defaults', () => {
    expect(readArguments(['read-one'], none)).toEqual({
      command: 'run',
      run: {
        ...{ scenarios: ['read-one'], profile: 'smoke', resources: [], target: undefined },
        ...{ database: 'postgresql', size: 'full', bundle: false, rate: undefined, duration: undefined },
        ...{ base: '.cache/load/base.json', saveBase: false, tolerance: 1.3, out: undefined, prometheus: undefined },
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
    const wrong = [
      'reed-one',
      'huge',
      '--database',
      'oracle',
      '--rate',
      '0',
      '--target',
      'localhost',
      '--tolerance',
      '1',
    ];
    expect(() => readArguments(wrong, none)).toThrow(
      /--tolerance to be a number above 1.*\n.*one of all, list-shallow.*got "reed-one".*\n.*one of smoke.*got "huge".*\n.*postgresql or sqlite; got "oracle".*\n.*--target.*"localhost".*\n.*--rate.*"0"/,
    );
    expect(() => readArguments(['compare', 'a'], none)).toThrow('two runs');
    expect(() => readArguments(['read-one', '--wat'], none)).toThrow("Unknown option '--wat'");
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
