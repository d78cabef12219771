import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A model's fields and relations as prisma/models.prisma declares them. */
export interface ModelNames {
  fields: string[];
  relations: string[];
  /** Where each relation leads, and whether to many records. */
  targets: Record<string, { model: string; many: boolean }>;
}

/** Every model of the service, read from the one source of models. */
export function readModels(): Map<string, ModelNames> {
  const text = readFileSync(join(import.meta.dirname, '../../prisma/models.prisma'), 'utf8');
  const blocks = [...text.matchAll(/^model (\w+) \{([^}]*)\}/gm)].map(
    ([, name, body]) => [name ?? '', body ?? ''] as const,
  );
  const names = new Set(blocks.map(([name]) => name));
  return new Map(
    blocks.map(([model, body]) => {
      const members = [...body.matchAll(/^ {2}(\w+)\s+(\w+)(\[\])?/gm)].map(([, name, type, many]) => ({
        name: name ?? '',
        type: type ?? '',
        many: many !== undefined,
      }));
      const relations = members.filter(({ type }) => names.has(type));
      return [
        model,
        {
          fields: members.filter(({ type }) => !names.has(type)).map(({ name }) => name),
          relations: relations.map(({ name }) => name),
          targets: Object.fromEntries(relations.map(({ name, type, many }) => [name, { model: type, many }])),
        },
      ];
    }),
  );
}
