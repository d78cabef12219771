import type { z } from 'zod';
import type { Environment } from '../config/environment.ts';

/** Methods of a client, as an OpenAPI document names them. */
export type ApiMethod = 'get' | 'put' | 'post' | 'patch' | 'delete';

type Success = 200 | 201 | 202 | 203 | 204 | 205 | 206;

/** Any API: every path, with bodies and answers that are not known. */
export interface AnyApi {
  [path: string]: Record<
    ApiMethod,
    {
      parameters: { query?: Readonly<Record<string, unknown>>; path?: Readonly<Record<string, string | number>> };
      requestBody?: { content: { 'application/json': unknown } };
      responses: { [status: number]: { content: { 'application/json': unknown } } };
    }
  >;
}

/** The paths of an API that have a method; an API is the type `paths` that openapi-typescript makes of a document. */
export type PathsWith<Api, M extends ApiMethod> = {
  [P in keyof Api]: Api[P] extends { [K in M]: { responses: unknown } } ? P : never;
}[keyof Api] &
  string;

/** One operation of an API. */
export type OperationOf<Api, P extends keyof Api, M extends ApiMethod> = Api[P] extends { [K in M]: infer O }
  ? O
  : never;

/** What a call may say beside what its operation asks for. */
interface CommonOptions<Accepted extends number, Schema extends z.ZodType | undefined> {
  /** Statuses beside 2xx that are answers and no failures, e.g. `[404]`. */
  accept?: readonly Accepted[];
  /** What the body of a 2xx answer has to be; one that is not is a 502. Default: it is taken as it is. */
  schema?: Schema;
  /** Beside those of the client. */
  headers?: Readonly<Record<string, string>>;
  /** Sent as `Idempotency-Key`; the call is then tried again as a safe one is. */
  idempotencyKey?: string;
  /** Of each attempt, in milliseconds. Default: the client's. */
  timeoutMs?: number;
}

type Part<Name extends string, T> = [NonNullable<T>] extends [never]
  ? { [N in Name]?: undefined }
  : Partial<Record<never, never>> extends T
    ? { [N in Name]?: NonNullable<T> }
    : undefined extends T
      ? { [N in Name]?: NonNullable<T> }
      : { [N in Name]: T };

type PropertyOf<T, Name extends string> = T extends { [N in Name]: infer V }
  ? V
  : T extends { [N in Name]?: infer V }
    ? V | undefined
    : undefined;
type ContentOf<T> = T extends { content: infer C } ? C[keyof C] : undefined;
type BodyOf<Operation> =
  PropertyOf<Operation, 'requestBody'> extends infer B
    ? undefined extends B
      ? ContentOf<NonNullable<B>> | undefined
      : ContentOf<B>
    : never;

/** What a call of an operation is made with: its parameters and body, as far as it has them, and what any call may say. */
export type CallOptions<
  Operation,
  Accepted extends number = never,
  Schema extends z.ZodType | undefined = undefined,
> = CommonOptions<Accepted, Schema> &
  Part<'path', PropertyOf<PropertyOf<Operation, 'parameters'>, 'path'>> &
  Part<'query', PropertyOf<PropertyOf<Operation, 'parameters'>, 'query'>> &
  Part<'body', BodyOf<Operation>>;

/** An answer of a status, with its body parsed where it is JSON; `undefined` where there is none. */
export interface HttpAnswer<Status extends number = number, Data = unknown> {
  status: Status;
  data: Data;
  /** By their names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The answers that a call can give; `status` tells which one it is. */
export type AnswerOf<
  Operation,
  Accepted extends number = never,
  Schema extends z.ZodType | undefined = undefined,
> = Operation extends { responses: infer R }
  ? {
      [S in keyof R & (Success | Accepted)]: HttpAnswer<
        S,
        S extends Success ? (Schema extends z.ZodType ? z.output<Schema> : ContentOf<R[S]>) : ContentOf<R[S]>
      >;
    }[keyof R & (Success | Accepted)]
  : never;

type Call<Api, M extends ApiMethod> = <
  P extends PathsWith<Api, M>,
  Accepted extends number = never,
  Schema extends z.ZodType | undefined = undefined,
>(
  path: P,
  ...options: Partial<Record<never, never>> extends CallOptions<OperationOf<Api, P, M>, Accepted, Schema>
    ? [options?: CallOptions<OperationOf<Api, P, M>, Accepted, Schema>]
    : [options: CallOptions<OperationOf<Api, P, M>, Accepted, Schema>]
) => Promise<AnswerOf<OperationOf<Api, P, M>, Accepted, Schema>>;

/**
 * Calls one other service. Every call gives a 2xx answer, or one that `accept` names, and raises otherwise:
 * GatewayTimeoutException (504) where no answer came in time, BadGatewayException (502) where the peer failed, answered
 * another status or what cannot be read, or is not asked because it failed too often, ServiceUnavailableException (503)
 * where too many calls of it are under way, and RequestAbandonedException when the client of the request has gone.
 */
export type HttpClient<Api = AnyApi> = { readonly [M in ApiMethod]: Call<Api, M> };

/** How another service is called. */
export interface HttpClientOptions {
  /** Its base URL, or the name of the variable that holds it, such as `PAYMENTS_URL`. */
  url: string;
  /** How long each attempt may take until the last byte of the answer, in milliseconds; the request's deadline may end it sooner. Default 5,000. */
  timeoutMs?: number;
  /** How often a safe call, or one with an idempotency key, is tried again. Default 2. */
  retries?: number;
  /** Calls at the same time, each on a connection of its own. Default 50. */
  connections?: number;
  /** Calls that may wait for one of these connections. Default as many. */
  queue?: number;
  /** The longest body of an answer that is read, in bytes; all connections together hold up to as many times that. Default 1 MB. */
  maxBytes?: number;
  /** When the peer is not asked any more. Default: once half of the last 20 calls failed, for 5 seconds. */
  breaker?: { calls?: number; failedShare?: number; openMs?: number };
  /** Headers of every call, such as a token from a setting; asked for once. */
  headers?: (settings: Environment) => Readonly<Record<string, string>>;
}
