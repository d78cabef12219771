import { describe, expect, it } from 'vitest';
import { databaseKindOf } from '../../src/chassis/database/client/database-kind.ts';
import type { TestApp } from '../support/test-app.ts';
import { type FilledTenant, scopedLists, scopedModels } from '../support/two-tenants.ts';
import { tenantProbes } from './tenant-probes.ts';

/** Expects of a service with two tenants that none is told anything of the other. */
export function describeTenants(service: TestApp, filled: [FilledTenant, FilledTenant]): void {
  const scoped = new Set(scopedModels(service));
  const pairs = [
    ['a', 'b', ...filled],
    ['b', 'a', ...filled.toReversed()],
  ] as [string, string, FilledTenant, FilledTenant][];

  describe('the service', () => {
    it('has no model with tenants whose rows belong to nobody', () => {
      expect(databaseKindOf(service.orm).rules.unscopedTenantModels).toEqual([]);
    });

    it.each(scopedLists(service))(
      'would show at $path the rows of both tenants without a scope',
      async ({ path, policy }) => {
        const { rules } = databaseKindOf(service.orm);
        const filterOf = rules.filterOf.bind(rules);
        const [own, other] = filled;
        rules.filterOf = (model) => (model === policy.model ? undefined : filterOf(model));
        const { data } = (await own.client.get(path)).body;
        rules.filterOf = filterOf;
        expect(data.some(({ id }: { id: string }) => other.ids.has(id))).toBe(true);
      },
    );

    it.each(scopedLists(service).flatMap((list) => pairs.map((pair) => [list.path, ...pair, list.policy] as const)))(
      'tells at %s tenant %s nothing of tenant %s, whatever is asked',
      async (path, _name, _other, own, other, policy) => {
        let found = 0;
        for (const { suffix, query } of tenantProbes(policy, 'a')) {
          let { body, status } = await own.client.get(path + suffix, query);
          expect([query, status]).toEqual([query, 200]);
          for (;;) {
            const ids = JSON.stringify(body).match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g) ?? [];
            found += ids.filter((id) => own.ids.has(id)).length;
            expect(
              ids.filter((id) => other.ids.has(id)),
              JSON.stringify([suffix, query]),
            ).toEqual([]);
            if (typeof body.nextCursor !== 'string') break;
            const next = { ...query, cursor: body.nextCursor };
            if (scoped.has(policy.model)) expect((await other.client.get(path + suffix, next)).status).toBe(400);
            ({ body, status } = await own.client.get(path + suffix, next));
          }
        }
        if (scoped.has(policy.model)) expect(found).toBeGreaterThan(0);
      },
    );
  });
}
