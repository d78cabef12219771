import { STATUS_CODES } from 'node:http';
import { isJson, type Json } from './deep-merge.ts';
import { schemaReference } from './schema-components.ts';

/** Why a standard status is answered; others are described by their reason phrase. */
const reasons: Record<number, string> = {
  400: 'The request cannot be understood, or breaks a rule that the message names',
  401: 'Missing or invalid credentials',
  403: 'The caller is known and may not do this',
  404: 'There is no such record',
  409: 'The request contradicts what is stored, such as a duplicate of a unique value',
  412: 'The record is not the version that If-Match names',
  413: 'The body is larger than the service takes',
  415: "The body's type, character set or encoding is not one that the service reads",
  422: 'The request is well formed, but its content cannot be processed',
  423: 'What the request would change is locked by somebody else',
  428: 'The change needs If-Match with the ETag of the record',
  429: 'The client sent more than its share; Retry-After says when to try again, in seconds',
  500: 'An unexpected fault',
  502: 'A service that this one calls failed or gave an answer that cannot be used',
  503: 'The service cannot take the request now; Retry-After says when to try again, in seconds',
  504: 'A service that this one calls did not answer in time',
  507: 'There is no room left to store what came',
};

const timestamp = '2026-01-01T00:00:00.000Z';
const error = { success: false, message: 'Not Found', statusCode: 404, timestamp };
const details = { errors: { name: ['Expected at least 1 character'] } };
const validationError = { ...error, message: 'Validation Failed', statusCode: 400, details };

/** The body of every failure (spec.md: Error response body), as component schemas. */
export const errorSchemas: Readonly<Record<string, Json>> = {
  ErrorBody: {
    type: 'object',
    description: 'The body of every failure.',
    required: ['success', 'message', 'statusCode', 'timestamp'],
    properties: {
      success: { type: 'boolean', enum: [false] },
      message: { type: 'string' },
      statusCode: { type: 'integer', minimum: 400, maximum: 599 },
      timestamp: { type: 'string', format: 'date-time' },
      details: { description: 'Extra structured information, where there is some.' },
    },
    example: error,
  },
  ValidationErrorBody: {
    description: 'The body of a failed validation: each invalid field and its messages.',
    allOf: [
      schemaReference('ErrorBody'),
      {
        type: 'object',
        required: ['details'],
        properties: {
          details: {
            type: 'object',
            required: ['errors'],
            properties: {
              errors: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
            },
          },
        },
      },
    ],
    example: validationError,
  },
};

/** The failures that any route may answer, as reusable responses; a failed validation of a body is a 400 of its own. */
export function failureComponents(): Record<string, Json> {
  const statuses = Object.keys(reasons).map(Number);
  return Object.fromEntries([
    ...statuses.map((status) => [failureName(status, false), failureResponse(status, false)]),
    [failureName(400, true), failureResponse(400, true)],
  ]);
}

/**
 * The response of a failure status, always with the error body unless it has content of its own.
 *
 * @param written what an author wrote about it, if anything
 */
export function failure(status: number, hasBody: boolean, written?: unknown): Json {
  const response = isJson(written) ? written : {};
  if ('$ref' in response || 'content' in response) return response;
  if (Object.keys(response).length > 0 || !(status in reasons))
    return { ...failureResponse(status, hasBody), ...response };
  return { $ref: `#/components/responses/${failureName(status, hasBody)}` };
}

function failureName(status: number, hasBody: boolean): string {
  return status === 400 && hasBody ? 'InvalidBody' : (STATUS_CODES[status] ?? '').replace(/\W/g, '');
}

function failureResponse(status: number, hasBody: boolean): Json {
  const message = STATUS_CODES[status] ?? `Status ${status}`;
  const one = { schema: schemaReference('ErrorBody'), example: { ...error, message, statusCode: status } };
  const either = {
    schema: { anyOf: [schemaReference('ValidationErrorBody'), schemaReference('ErrorBody')] },
    example: validationError,
  };
  return {
    description: reasons[status] ?? message,
    ...((status === 429 || status === 503) && {
      headers: { 'Retry-After': { description: 'In seconds', schema: { type: 'integer' } } },
    }),
    content: { 'application/json': status === 400 && hasBody ? either : one },
  };
}
