import type { Field } from './fields.ts';
import type { ModuleNames } from './names.ts';

/** Who may call a module's routes: everybody reads, everybody needs credentials, or everybody does everything. */
export type Access = 'public' | 'guarded' | 'open';

/** A module to be written. */
export interface ModulePlan {
  readonly names: ModuleNames;
  readonly fields: readonly Field[];
  readonly access: Access;
  /** Whether guards ask for the scopes `read` and `write` in place of roles. */
  readonly scoped: boolean;
  /** The module that mounts each model that a field refers to; undefined where none does. */
  readonly modulesOf: ReadonlyMap<string, string | undefined>;
}

/** The files of a module below src/modules/<name>/, by their names. */
export function sourceFiles(plan: ModulePlan): Record<string, string> {
  const { kebab } = plan.names;
  return {
    [`${kebab}.schema.ts`]: schemaFile(plan),
    [`${kebab}.repository.ts`]: repositoryFile(plan.names),
    [`${kebab}.service.ts`]: serviceFile(plan.names),
    [`${kebab}.controller.ts`]: controllerFile(plan.names),
    [`${kebab}.routes.ts`]: routesFile(plan),
    'di.ts': diFile(plan.names),
  };
}

function schemaFile({ names, fields, modulesOf }: ModulePlan): string {
  const { camel, pascal } = names;
  const related = fields.flatMap(({ relation }) => {
    const module = relation && modulesOf.get(relation.model);
    return relation && module !== undefined ? [`${relation.name}: policyOf('${module}', '${relation.model}')`] : [];
  });
  const imports = new Set([...fields.flatMap(({ imports: name }) => name ?? []), 'listPolicy', 'z']);
  if (related.length > 0) imports.add('policyOf');
  const record = fields.map(
    ({ name, schema, optional }) => `    ${name}: ${schema}${optional ? '.nullable()' : ''},\n`,
  );
  const filters = [
    "id: ['equals', 'in']",
    ...fields
      .filter(({ filter }) => filter.length > 0)
      .map(({ name, filter }) => `${name}: [${filter.map((one) => `'${one}'`).join(', ')}]`),
    "createdAt: ['gte', 'lte']",
    ...related,
  ];
  const sorts = [...fields.filter(({ sorted }) => sorted).map(({ name }) => name), 'createdAt'];
  const free = fields.filter(({ optional }) => optional).map(({ name }) => `${name}: true`);
  return `import { ${[...imports].sort((a, b) => a.localeCompare(b)).join(', ')} } from 'slipway';

export const ${camel} = z
  .object({
    id: z.uuid(),
${record.join('')}    createdAt: z.date(),
    updatedAt: z.date(),
  })
  .meta({ id: '${pascal}' });

export const create${pascal} = ${camel}
  .omit({ id: true, createdAt: true, updatedAt: true })
${free.length > 0 ? `  .partial({ ${free.join(', ')} })\n` : ''}  .meta({ id: 'Create${pascal}' });
export const update${pascal} = create${pascal}.partial().meta({ id: 'Update${pascal}' });

export const ${camel}List = listPolicy('${pascal}', {
  record: ${camel},
  filter: {
${filters.map((filter) => `    ${filter},\n`).join('')}  },
  sort: [${sorts.map((name) => `'${name}'`).join(', ')}],
${related.length > 0 ? `  include: { ${related.join(', ')} },\n` : ''}});
`;
}

function repositoryFile({ camel, pascal }: ModuleNames): string {
  return `import { Repository } from 'slipway';

export class ${pascal}Repository extends Repository<'${camel}'> {
  protected readonly model = '${camel}';
}
`;
}

function serviceFile({ kebab, pascal }: ModuleNames): string {
  return `import { ResourceService } from 'slipway';
import type { ${pascal}Repository } from './${kebab}.repository.ts';

export class ${pascal}Service extends ResourceService<${pascal}Repository> {}
`;
}

function controllerFile({ kebab, camel, pascal }: ModuleNames): string {
  return `import { ResourceController } from 'slipway';
import { create${pascal}, ${camel}, ${camel}List, update${pascal} } from './${kebab}.schema.ts';
import type { ${pascal}Service } from './${kebab}.service.ts';

export class ${pascal}Controller extends ResourceController<${pascal}Service> {
  readonly schemas = { record: ${camel}, create: create${pascal}, update: update${pascal}, list: ${camel}List };
}
`;
}

function routesFile({ names: { camel, pascal, plural }, access, scoped }: ModulePlan): string {
  const [user, admin] = scoped ? ["auth.scope('read')", "auth.scope('write')"] : ['auth.user()', "auth.role('admin')"];
  const read = access === 'guarded' ? user : 'publicAccess';
  const write = access === 'open' ? 'publicAccess' : admin;
  const imports = access === 'guarded' ? 'defineRoutes, resourceRouter' : 'defineRoutes, publicAccess, resourceRouter';
  const parameters = access === 'open' ? `${camel}Controller` : `${camel}Controller, auth`;
  return `import { ${imports} } from 'slipway';

/**
 * @openapi
 * /${plural}: { x-resource: ${pascal}, tags: [${pascal}] }
 */
export default defineRoutes(({ ${parameters} }) =>
  resourceRouter('/${plural}', ${camel}Controller, { read: ${read}, write: ${write} }),
);
`;
}

function diFile({ kebab, camel, pascal }: ModuleNames): string {
  return `import { type Provided, provide, resource } from 'slipway';
import { ${pascal}Controller } from './${kebab}.controller.ts';
import { ${pascal}Repository } from './${kebab}.repository.ts';
import { ${pascal}Service } from './${kebab}.service.ts';

const dependencies = {
  ...resource('${camel}', {
    repository: ${pascal}Repository,
    service: ${pascal}Service,
    controller: ${pascal}Controller,
  }),
};

export const registerDependencies = provide(dependencies);

declare global {
  namespace Slipway {
    interface Cradle extends Provided<typeof dependencies> {}
  }
}
`;
}
