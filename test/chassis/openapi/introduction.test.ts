import { describe, expect, it } from 'vitest';
import { introduction } from '../../../src/chassis/openapi/introduction.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';

async function descriptionOf(env: Record<string, string>): Promise<string> {
  const app = await bootTestApp({ env });
  const document = (await (await fetch(`${app.url}/api-docs.json`)).json()) as { info: { description: string } };
  return document.info.description;
}

describe('the introduction of the API page', () => {
  it('leads from the login to the first filtered list', async () => {
    expect(await descriptionOf({})).toBe(
      [
        'Reference service of the Slipway chassis\n',
        '1. Send `POST /auth/login`.',
        '2. Copy `accessToken` from its answer into **Authorize**; a reload of the page keeps it.',
        '3. Send `GET /api/v1/categories/paginated` with **Try it out**: `where` filters, `orderBy` sorts, both are JSON.',
      ].join('\n'),
    );
  });

  it('names the sample account in development only', async () => {
    const sample = 'admin@example.com, slipway-demo-password';
    expect(await descriptionOf({ NODE_ENV: 'development', DATABASE_SEED: 'small' })).toContain(sample);
    expect(await descriptionOf({ NODE_ENV: 'test', DATABASE_SEED: 'small' })).not.toContain('slipway-demo-password');
  });

  it('asks for a token where there is no login, and leads to a list that needs it where none is open', () => {
    const guarded = { security: [{ bearer: [] }], parameters: [{ name: 'where' }] };
    const paths = { '/orders': { get: guarded }, '/orders/paginated': { get: guarded } };
    expect(introduction({ paths }).split('\n')).toEqual([
      '1. Give **Authorize** your token; a reload of the page keeps it.',
      '2. Send `GET /orders/paginated` with **Try it out**: `where` filters, `orderBy` sorts, both are JSON.',
    ]);
    const open = { '/notes/paginated': { get: { parameters: [{ name: 'where' }] } } };
    expect(introduction({ paths: { ...paths, ...open } })).toContain('GET /notes/paginated');
  });

  it('has no steps where there is nothing to log in to and no list', () => {
    expect(introduction({ paths: { '/ping': { get: { operationId: 'ping' } } } })).toBe('');
  });
});
