import { STATUS_CODES } from 'node:http';
import { deepMerge, isJson, type Json } from './deep-merge.ts';
import type { HandlerDocs } from './documented.ts';
import { failure } from './failure-responses.ts';
import { jsonContent, successBody } from './json-content.ts';
import { parameterNames } from './route-source.ts';
import { schemaReference } from './schema-components.ts';

/** What is known of a route besides what was written about it. */
interface RouteFacts {
  /** In lower case, as in the document. */
  method: string;
  /** The whole path template, e.g. `/api/v1/products/{id}`. */
  path: string;
  module: string;
  guards: Required<HandlerDocs>;
  /** Schema of the parameter `id`, where the route belongs to a resource. */
  id: Json | undefined;
}

/**
 * Completes an operation: the path's parameters, an operation id, a tag, what the guards ask for, and every failure
 * that the route can answer, with the error body. `x-body: Login` stands for a JSON body, `x-data: Tokens` for the data
 * of the success (`x-data: [Product]` for a list); each names a zod schema by its id.
 */
export function completeOperation(written: Json, facts: RouteFacts): Json {
  const { 'x-body': body, 'x-data': data, ...own } = written;
  const { security, optional } = facts.guards;
  const known = {
    tags: [facts.module.charAt(0).toUpperCase() + facts.module.slice(1)],
    operationId: operationId(facts),
    ...(security.length > 0 && {
      security: [...(optional ? [{}] : []), ...security.map((scheme) => ({ [scheme]: [] }))],
    }),
    parameters: [...pathParameters(facts), ...facts.guards.parameters],
    ...(typeof body === 'string' && { requestBody: { required: true, ...jsonContent(schemaReference(body)) } }),
  };
  const { parameters, ...operation } = deepMerge(known, own) as Json & { parameters: Json[] };
  const { scopes } = facts.guards;
  const needs =
    scopes.length > 0 &&
    `Needs the scope ${scopes.map((scope) => `\`${scope}\``).join(' and ')}, unless the caller has logged in here.`;
  const description = [operation['description'], needs].filter(Boolean).join('\n\n');
  return {
    ...operation,
    ...(description !== '' && { description }),
    ...(parameters.length > 0 && { parameters }),
    responses: completeResponses(operation, parameters.length > 0, data, facts),
  };
}

function completeResponses(operation: Json, hasParameters: boolean, data: unknown, facts: RouteFacts): Json {
  const hasBody = operation['requestBody'] !== undefined;
  const written = isJson(operation['responses']) ? operation['responses'] : {};
  const succeeds = Object.keys(written).some((status) => /^[123]/.test(status));
  const statuses = new Set([...Object.keys(written), ...(succeeds ? [] : ['200'])]);
  for (const status of failureStatuses(facts, hasBody, hasParameters)) statuses.add(String(status));
  const responses: Json = {};
  for (const status of [...statuses].sort()) {
    // An author leaves a status out with `404: null`.
    if (written[status] === null) continue;
    responses[status] = /^[45]\d\d$/.test(status)
      ? failure(Number(status), hasBody, written[status])
      : completeSuccess(status, written[status], data);
  }
  return responses;
}

function failureStatuses({ path, guards }: RouteFacts, hasBody: boolean, hasParameters: boolean): number[] {
  return [
    ...(hasBody || hasParameters ? [400] : []),
    ...(parameterNames(path).length > 0 ? [404] : []),
    ...(hasBody ? [413, 415] : []),
    ...guards.statuses,
    ...[429, 500, 503],
  ];
}

function completeSuccess(status: string, written: unknown, data: unknown): Json {
  const response = isJson(written) ? written : {};
  if ('$ref' in response) return response;
  const description = STATUS_CODES[status] ?? 'Success';
  const hasData = data !== undefined && /^2/.test(status) && status !== '204';
  return { description, ...(hasData && jsonContent(successBody(dataSchema(data)))), ...response };
}

function dataSchema(data: unknown): Json {
  return Array.isArray(data)
    ? { type: 'array', items: schemaReference(String(data[0])) }
    : schemaReference(String(data));
}

function pathParameters({ path, id }: RouteFacts): Json[] {
  return parameterNames(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: (name === 'id' && id) || { type: 'string' },
  }));
}

/** An operation id made of the method and the whole path, so that no two operations share it: `postAuthLogin`. */
export function operationId({ method, path }: Pick<RouteFacts, 'method' | 'path'>): string {
  return method + path.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9]|$)/g, (_match, letter: string) => letter.toUpperCase());
}
