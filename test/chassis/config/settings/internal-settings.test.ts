import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../../src/chassis/config/environment.ts';

const read = (variables: Record<string, string>) => () => readEnvironment({}, { NODE_ENV: 'test', ...variables });

describe('INTERNAL_PORT', () => {
  it('is not the public port, where both listen on one address', () => {
    const same = 'INTERNAL_PORT: expected another port than PORT; found 9464 for both';
    expect(read({ PORT: '9464' })).toThrow(same);
    expect(read({ PORT: '9464', HOST: '127.0.0.1' })).toThrow(same);
    expect(read({ PORT: '9464', HOST: '::', INTERNAL_HOST: '127.0.0.1' })).toThrow(same);
    expect(read({ PORT: '9464', HOST: '127.0.0.1', INTERNAL_HOST: '127.0.0.1' })).toThrow(same);
    expect(read({ PORT: '9464', HOST: '10.0.0.1', INTERNAL_HOST: '127.0.0.1' })).not.toThrow();
    expect(read({ PORT: '0', INTERNAL_PORT: '0' })).not.toThrow();
  });
});

describe('SOURCE_REVISION', () => {
  it('is a commit or a version, nothing that would need quoting', () => {
    expect(read({ SOURCE_REVISION: 'a4cb7b1-dirty' })).not.toThrow();
    expect(read({ SOURCE_REVISION: 'a b' })).toThrow(/SOURCE_REVISION: expected 1 to 64 letters, digits/);
  });
});
