import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../../src/chassis/context/principal.ts';
import { runAs, unscoped } from '../../../../src/chassis/context/run-as.ts';
import { ModelRules, type RowRules } from '../../../../src/chassis/database/scope/model-rules.ts';
import { aCaller } from '../../../support/tenant-shop.ts';

const field = { type: 'String', list: false, column: 'x' };
const models = {
  Order: { table: 'orders', fields: { id: field, tenantId: field }, indexes: [] },
  Tag: { table: 'tags', fields: { id: field }, indexes: [] },
};
const tenant: RowRules = { scope: ({ tenantId }: Principal) => ({ tenantId }) };
const a = aCaller('a');

function rulesOf(...declared: [model: string, rules: RowRules][]): ModelRules {
  const rules = new ModelRules({ models });
  for (const [model, own] of declared) rules.add(() => ({ model, rules: own }));
  return rules;
}

describe('the rules of models', () => {
  it('are none where no repository declares any and no model has tenants', () => {
    const rules = new ModelRules({ models: { Tag: models.Tag } });
    rules.add(() => ({ model: 'Tag', rules: { scope: undefined } }));
    expect([rules.filterOf('Tag'), rules.isEmpty]).toEqual([undefined, true]);
  });

  it('close a model that has tenants and no scope, and name it', () => {
    const rules = rulesOf(['Order', { softDelete: 'deletedAt' }]);
    expect([rules.isEmpty, rules.unscopedTenantModels]).toEqual([false, ['Order']]);
    expect(() => runAs(a, () => rules.filterOf('Order'))).toThrow(
      'No rows of Order: it has a column tenantId and no scope',
    );
    expect(unscoped('a test', () => rules.filterOf('Order'))).toBeUndefined();
  });

  it('give a filter of the caller, and none without a caller, but of a scope that takes none', () => {
    const open: RowRules = { scope: () => ({ published: true }), softDelete: 'deletedAt' };
    const rules = rulesOf(['Order', tenant], ['Tag', open]);
    expect(runAs(a, () => rules.filterOf('Order'))).toEqual({ tenantId: 'a' });
    expect(() => rules.filterOf('Order')).toThrow('it has a scope, and nobody acts');
    expect(rules.filterOf('Tag')).toEqual({ AND: [{ published: true }, { deletedAt: null }] });
  });

  it.each([
    [{ tenantId: undefined }, 'tenantId'],
    [{ OR: [{ tenantId: 'a' }, { order: { tenantId: undefined } }] }, 'OR.1.order.tenantId'],
  ])('refuse a scope that gives undefined, which the ORM takes for no condition: %j', (filter, path) => {
    const rules = rulesOf(['Order', { scope: () => filter }]);
    expect(() => rules.filterOf('Order')).toThrow(`gave undefined for ${path}`);
  });

  it('are those of one repository: a second one that differs is refused, one that says the same or nothing is not', () => {
    const same = () => rulesOf(['Order', tenant], ['Order', { ...tenant }], ['Order', {}]).seal();
    expect(same).not.toThrow();
    const owner: RowRules = { scope: ({ userId }: Principal) => ({ ownerId: userId }) };
    expect(() => rulesOf(['Order', tenant], ['Order', owner]).seal()).toThrow(
      'Expected one repository to say which rows of Order',
    );
  });

  it('are refused where two repositories have scopes of one text that give the caller other rows', () => {
    const by = (column: string, claim: 'tenantId' | 'userId') => (caller: Principal) => ({ [column]: caller[claim] });
    const rulesBy = (...made: ReturnType<typeof by>[]) =>
      rulesOf(...made.map((scope): [string, RowRules] => ['Order', { scope }]));
    const rows = (rules: ModelRules) => runAs(a, () => rules.filterOf('Order'));
    expect(rows(rulesBy(by('tenantId', 'tenantId'), by('tenantId', 'tenantId')))).toEqual({ tenantId: 'a' });
    for (const other of [by('ownerId', 'userId'), by('tenantId', 'userId')]) {
      expect(() => rows(rulesBy(by('tenantId', 'tenantId'), other))).toThrow(
        'Expected one repository to say which rows of Order',
      );
    }
  });

  it('are the same where scopes of one text differ by the moment at which they are asked', () => {
    let now = 0;
    const open = (): RowRules => ({ scope: () => ({ endsAt: { gt: new Date(now++) } }) });
    expect(rulesOf(['Order', open()], ['Order', open()]).filterOf('Order')).toEqual({ endsAt: { gt: new Date(0) } });
  });

  it('are read at the start: later ones are told of, and hold from then on', () => {
    const rules = rulesOf(['Order', tenant]);
    rules.seal();
    rules.add(() => ({ model: 'Tag', rules: { scope: () => ({ id: 'x' }) } }));
    expect(() => rules.filterOf('Order')).toThrow('The rules for rows of Tag came after the service began to serve');
    expect(rules.filterOf('Tag')).toEqual({ id: 'x' });
  });
});
