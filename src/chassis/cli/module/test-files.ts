import type { Field } from './fields.ts';
import type { ModulePlan } from './source-files.ts';

/** The tests of a module, by their paths in the service. */
export function testFiles(plan: ModulePlan, prefix: string): Record<string, string> {
  return { [`test/modules/${plan.names.kebab}.test.ts`]: moduleTest(plan, prefix) };
}

function moduleTest({ names, fields, access, scoped }: ModulePlan, prefix: string): string {
  const { camel, pascal, plural } = names;
  const references = fields.filter(({ relation, optional }) => relation && !optional);
  const body = fields.filter(({ relation, optional }) => !relation || !optional).map((field) => sampleOf(field));
  const wrong = fields.find((field) => field.wrong !== undefined && !field.relation);
  const sorted = fields.find(({ sorted: isSorted, relation, model }) => isSorted && !relation && model !== 'Boolean');
  const user = scoped ? "service.as({ scopes: ['read'] })" : "service.as('user')";
  const admin = scoped ? "service.as({ scopes: ['write'] })" : "service.as('admin')";
  return `import { randomUUID } from 'node:crypto';
import { bootTestService } from 'slipway/testing';
import { describe, expect, it } from 'vitest';

const path = '${prefix}/${plural}';
const service = await bootTestService();
const admin = ${admin};
const reader = ${access === 'guarded' ? user : 'service'};
let n = 0;

/** A body of a create, each with values of its own. */
${references.length > 0 ? 'async ' : ''}function a${pascal}() {
  n += 1;
${references.map(referenceSample).join('')}  return { ${body.join(', ')} };
}

describe('${plural}', () => {
  it('are created, read, changed and deleted', async () => {
    const body = ${references.length > 0 ? 'await ' : ''}a${pascal}();
    const created = await admin.post(path, body).expectData(201);
    expect(created).toMatchObject({ id: expect.any(String), ${sorted ? `${sorted.name}: body.${sorted.name}` : ''} });
    expect(await reader.get(\`\${path}/\${created.id}\`).expectData()).toEqual(created);
    const other = ${references.length > 0 ? 'await ' : ''}a${pascal}();
    const changed = await admin.put(\`\${path}/\${created.id}\`, other).expectData();
    expect(changed.id).toBe(created.id);
    await admin.delete(\`\${path}/\${created.id}\`);
    await reader.get(\`\${path}/\${created.id}\`).expectError(404, /.+/);
  });

  it('are listed in pages, in the order that is asked for', async () => {
    for (let i = 0; i < 3; i += 1) await admin.post(path, ${references.length > 0 ? 'await ' : ''}a${pascal}()).expectData(201);
    const { body } = await reader.get(\`\${path}/paginated\`, { page: 1, pageSize: 2, orderBy: { createdAt: 'desc' } });
    expect(body.data).toHaveLength(2);
    expect(body.total).toBe(await service.count('${camel}'));
  });

${
  wrong
    ? `  it('refuse a body that is wrong, and store nothing', async () => {
    const before = await service.count('${camel}');
    const body = { ...${references.length > 0 ? `(await a${pascal}())` : `a${pascal}()`}, ${wrong.name}: ${wrong.wrong} };
    await admin.post(path, body).expectError(400, 'Validation Failed');
    expect(await service.count('${camel}')).toBe(before);
  });

`
    : ''
}${access === 'open' ? '' : guardTest(references.length > 0, pascal, user)}  it('are missing under an id that nothing has', async () => {
    await reader.get(\`\${path}/\${randomUUID()}\`).expectError(404, /.+/);
  });

  it('are on the API page', async () => {
    const { body } = await service.get('/api-docs.json');
    expect(Object.keys(body.paths)).toEqual(expect.arrayContaining([path, \`\${path}/{id}\`]));
  });
});
`;
}

function guardTest(hasReferences: boolean, pascal: string, user: string): string {
  return `  it('are changed by those only who may', async () => {
    const body = ${hasReferences ? 'await ' : ''}a${pascal}();
    await service.post(path, body).expectError(401, /.+/);
    await ${user}.post(path, body).expectError(403, /.+/);
  });

`;
}

function sampleOf({ name, relation, sample, unique, model }: Field): string {
  if (relation) return name;
  return `${name}: ${unique && model === 'String' ? '`text ${randomUUID()}`' : sample}`;
}

/** A record that the new one refers to, stored directly. */
function referenceSample({ name, relation }: Field): string {
  if (!relation) return '';
  const { model } = relation;
  return `  const { id: ${name} } = await service.make('${model.charAt(0).toLowerCase()}${model.slice(1)}');\n`;
}
