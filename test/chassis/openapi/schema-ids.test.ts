import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

describe('the zod schemas of all modules', () => {
  // zod lets a second schema with the same id replace the first without a word, so the sources are searched.
  it('have an id each that no other has', () => {
    const places = new Map<string, string[]>();
    const sources = ['src/{modules,chassis}/**/*.ts', 'test/fixtures/service/**/*.ts'];
    // What the CLI writes is part of another service.
    for (const file of globSync(sources, { exclude: ['src/chassis/cli/**'] })) {
      for (const [, id = ''] of readFileSync(file, 'utf8').matchAll(/\.meta\(\{[^}]*\bid: '(\w+)'/g)) {
        places.set(id, [...(places.get(id) ?? []), file]);
      }
    }
    expect(places.size).toBeGreaterThan(0);
    expect([...places].filter(([, files]) => files.length > 1)).toEqual([]);
  });
});
