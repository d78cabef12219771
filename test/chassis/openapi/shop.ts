import { join } from 'node:path';
import type { Router } from 'express';
import { type DescribedApi, describeApi } from '../../../src/chassis/openapi/describe-api.ts';
import type { RouteSource } from '../../../src/chassis/openapi/route-source.ts';

export const info = { title: 'Shop', version: '1.2.3', description: 'A shop', serverUrl: '/' };

const directory = join(import.meta.dirname, '../../fixtures/modules-openapi/shop');

/** The absolute path of a route file of the fixture module. */
export function shopFile(name: string): string {
  return join(directory, `${name}.routes.ts`);
}

/** A route file of the fixture module, mounted below `/api/v1`. */
export async function shopSource(name: string): Promise<RouteSource> {
  const { default: router } = (await import(shopFile(name))) as { default: Router };
  return { module: 'shop', file: shopFile(name), prefix: '/api/v1', router };
}

/** Describes route files of the fixture module. */
export async function describeShop(...names: string[]): Promise<DescribedApi> {
  return describeApi(await Promise.all(names.map(shopSource)), info);
}

/** An operation as tests read it. */
export interface Operation {
  summary?: string;
  description?: string;
  tags: string[];
  operationId: string;
  deprecated?: boolean;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: Content & { required: boolean };
  responses: Record<string, { $ref?: string; description?: string } & Partial<Content>>;
}

interface Parameter extends Partial<Content> {
  name: string;
  in: string;
  description: string;
  schema?: object;
}

interface Content {
  content: { 'application/json': { schema: object; example?: unknown } };
}

/** One operation of a document. */
export function operation({ document }: DescribedApi, method: string, path: string): Operation {
  const found = (document.paths as Record<string, Record<string, Operation>>)[path]?.[method];
  if (found === undefined) throw new Error(`Expected ${method} ${path} in the document, found none.`);
  return found;
}

/** The component schemas of a document. */
export function schemasOf({ document }: DescribedApi): Record<string, Record<string, unknown>> {
  return (document.components as { schemas: Record<string, Record<string, unknown>> }).schemas;
}
