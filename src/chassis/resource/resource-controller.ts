import type { Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import { chargeRequest, currentPrincipal } from '../context/request-context.ts';
import { PreconditionFailedException } from '../errors/exceptions.ts';
import { entityTag, namesTag, readEntityTags } from '../http/answers/entity-tags.ts';
import { charged } from '../http/answers/record-room.ts';
import { sendData, sendNoContent, sendNotModified, sendPage, sendPageOf } from '../http/answers/responses.ts';
import { parseBody } from '../http/bodies/parse-body.ts';
import { queryParameters } from '../http/pipeline/query-parameters.ts';
import { type CursorCodec, cursorsOf } from '../query/paging/cursor.ts';
import { unreadData } from '../query/paging/paging.ts';
import { readId } from '../query/parse/read-id.ts';
import type { AnyListPolicy } from '../query/policy/list-policy.ts';
import type { ServicePolicies } from '../query/policy/service-policies.ts';
import type { Selection } from '../query/query-types.ts';
import { createAll, createEach, readBulk } from './bulk-create.ts';
import { completedJson } from './completed-json.ts';
import { type Action, type ActionOf, type ResourceSchemas, showsAllTheSame } from './resource-schemas.ts';
import type { ResourceService } from './resource-service.ts';
import { type AllRecordsOptions, sendAll } from './send-all.ts';

/** The columns of a service's records. */
type ColumnOf<S> =
  S extends ResourceService<infer R, infer _C, infer _U> ? keyof Awaited<ReturnType<R['getById']>> & string : never;

/**
 * The six standard handlers of a resource: parse, call the service, answer (spec.md: Route layout of a module).
 * Every handler can be replaced by one of your own.
 */
export abstract class ResourceController<S extends ResourceService = ResourceService> {
  /** Only for the compiler: ties a controller to its service where a module registers both. */
  declare readonly serviceType?: S;
  /** The shapes of the resource; only fields of `record` ever leave. */
  abstract readonly schemas: ResourceSchemas<S>;
  protected readonly service: S;
  protected readonly cursors: CursorCodec;
  #readBy: ServicePolicies | 'several services' | undefined;
  /** The declared policies, each with what the only service of this controller reads in its place. */
  #resolved: ReadonlyMap<AnyListPolicy, AnyListPolicy> = new Map();

  constructor({ service, cursors }: { service: S; cursors: CursorCodec }) {
    this.service = service;
    this.cursors = cursors;
  }

  /** Whether records have versions, see `version` of a repository. */
  get versioned(): boolean {
    return this.service.versionColumn !== undefined;
  }

  /** GET /<resources>: the records that match, unpaged and bounded; `X-Result-Limit` says by how many. */
  async list(request: Request, response: Response): Promise<void> {
    const policy = this.#policyFor(request);
    const query = policy.parseFind(queryParameters(request));
    await charged(policy, query, response, async () => {
      response.setHeader('X-Result-Limit', query.take);
      const { completion } = query;
      const found = await this.service.listStored(query);
      if (!completion) return sendData(response, 200, found);
      sendData(response, 200, await completedJson(completion, found));
    });
  }

  /** GET /<resources>/paginated: one page of the records that match. */
  async paginated(request: Request, response: Response): Promise<void> {
    const policy = this.#policyFor(request);
    const query = policy.parseSearch(queryParameters(request), this.#cursors());
    await charged(policy, query, response, async () => {
      const page = await this.service.paginate(query);
      const { completion } = query;
      if (!completion) return sendPage(request, response, page);
      sendPageOf(await completedJson(completion, unreadData(page) ?? page.data), request, response, page);
    });
  }

  /**
   * A handler that sends all records that the caller may see as CSV or NDJSON, in constant memory; see `sendStream`.
   *
   * @param options.columns fields of the record, in their order; one that the list policy keeps from the caller is left out
   * @example router.get('/orders/export.csv', auth.user(), orderController.streamAll({ format: 'csv', columns: ['number'] }));
   */
  streamAll(options: AllRecordsOptions<ColumnOf<S>>): RequestHandler {
    return (request, response) => sendAll(response, this.service, this.#policyFor(request).select, options);
  }

  /** GET /<resources>/:id: one record, with the relations that `include` names. */
  async get(request: Request, response: Response): Promise<void> {
    const policy = this.#policyFor(request);
    const query = policy.parseGet(queryParameters(request));
    const { select, cost, completion } = query;
    const id = this.idOf(request);
    const whole = async () => {
      if (!completion) return sendData(response, 200, await this.service.getStored(id, select));
      const [record] = await completion.of([await this.service.get(id, select)]);
      sendData(response, 200, record);
    };
    // With related ones it may be as long as a list; a version says nothing of them.
    if (Object.values(select).some((part) => part !== true)) return charged(policy, query, response, whole);
    chargeRequest(cost);
    if (this.service.versionColumn === undefined) return whole();
    const record = await this.service.get(id, this.#withVersion(select));
    const tag = this.#tag(response, record);
    // Nor does it say what a query for a computed field would find now, and which fields were for whom the copy was made.
    const isWhole = completion?.own !== false && showsAllTheSame(this.schemas);
    if (isWhole && tag !== undefined && namesTag(request.headers['if-none-match'], tag)) sendNotModified(response);
    else sendData(response, 200, readable(await policy.complete(record), policy));
  }

  /** POST /<resources>: 201 with the new record and its `Location`. */
  async create(request: Request, response: Response): Promise<void> {
    const input = parseBody(this.#schema('create'), request.body);
    const policy = this.#policyFor(request);
    const created = await this.service.create(input, this.#withVersion(policy.select));
    const record = readable(await policy.complete(created), policy);
    this.#tag(response, created);
    const [path = ''] = request.originalUrl.split('?', 1);
    if (record.id !== undefined) response.setHeader('Location', `${path.replace(/\/$/, '')}/${record.id}`);
    sendData(response, 201, record);
  }

  /**
   * POST /<resources>/bulk: 201 with all records, or 207 with what became of each item where some cannot be created.
   *
   * @param most how many items one request may bring
   */
  async createBulk(request: Request, response: Response, most: number): Promise<void> {
    const { items, mode } = readBulk(request.body, most);
    const schema = this.#schema('create');
    const policy = this.#policyFor(request);
    const service = this.service as unknown as Parameters<typeof createAll>[0];
    if (mode === 'all') {
      const created = await createAll(service, schema, items, policy.select);
      const records = (await policy.completion?.of(created)) ?? created;
      return sendData(
        response,
        201,
        records.map((record) => readable(record, policy)),
      );
    }
    const results = await createEach(service, schema, items, policy.select);
    const created = results.flatMap((result) => (result.success ? [result.data] : []));
    const records = ((await policy.completion?.of(created)) ?? created).values();
    const answered = results.map((result) =>
      result.success ? { ...result, data: readable(records.next().value as object, policy) } : result,
    );
    sendData(response, results.every(({ success }) => success) ? 201 : 207, answered);
  }

  /** PUT /<resources>/:id: 200 with the changed record. */
  async update(request: Request, response: Response): Promise<void> {
    const input = parseBody(this.#schema('update'), request.body);
    await this.act(request, response, (id, select) => this.service.update(id, input, select));
  }

  /** PATCH /<resources>/:id: the same, as `update` changes the fields that it names (RFC 7396). */
  patch(request: Request, response: Response): Promise<void> {
    return this.update(request, response);
  }

  /**
   * An operation of your own on the record that the path names, answered as `update` is: 200 with the record, of which only
   * what this caller may see. If-Match is checked where records have versions.
   *
   * @param operate changes the record and gives it with what `select` selects, or gives nothing: then it is read
   * @example move = (request, response) => this.act(request, response, (id, select) => this.service.move(id, placeOf(request), select))
   */
  protected async act(request: Request, response: Response, operate: Action<Parameters<S['get']>[0]>): Promise<void> {
    const policy = this.#policyFor(request);
    const select = this.#withVersion(policy.select);
    const id = this.idOf(request);
    const operated = await this.#ifMatch(request, () => operate(id, select));
    const record = (operated as object | undefined) ?? (await this.service.get(id, select));
    this.#tag(response, record);
    sendData(response, 200, readable(await policy.complete(record), policy));
  }

  /**
   * A handler for an operation on the record that the path names, answered as `update` is. For one that takes more than the
   * record, write a handler and call `act`.
   *
   * @param operation the name of a method of the service, or a function, such as one that calls another service. It takes
   * the id and what to select, and gives the record, or gives nothing: then it is read
   * @example router.post('/orders/:id/place', auth.user(), orderController.action('place'));
   * @example router.post('/orders/:id/pay', auth.user(), orderController.action((id) => paymentService.pay(id)));
   */
  action(operation: ActionOf<S> | Action<Parameters<S['get']>[0]>): RequestHandler<{ id: string }> {
    const service = this.service as S & Record<string, Action>;
    const operate: Action =
      typeof operation === 'function' ? operation : (id, select) => service[operation](id, select);
    return (request, response) => this.act(request as Request, response, operate);
  }

  /** DELETE /<resources>/:id: 204. */
  async delete(request: Request, response: Response): Promise<void> {
    await this.#ifMatch(request, () => this.service.delete(this.idOf(request)));
    sendNoContent(response);
  }

  /**
   * What this caller may ask for and see: `list` of the schemas. Override it where that depends on the caller; it chooses
   * among `list` and `otherLists`.
   */
  protected policyFor(_request: Request): AnyListPolicy {
    return this.schemas.list;
  }

  /**
   * Looks its policies up once for all requests; loading the routes calls it. A controller that several services share, as
   * one that a route file makes outside of `defineRoutes` is, leaves it to each request.
   */
  usePolicies(policies: ServicePolicies): void {
    const { list, otherLists = [] } = this.schemas;
    this.#readBy = this.#readBy === undefined || this.#readBy === policies ? policies : 'several services';
    const looked = this.#readBy === policies ? [list, ...otherLists].flatMap(withVariants) : [];
    this.#resolved = new Map(looked.map((policy) => [policy, policies.of(policy)]));
  }

  #policyFor(request: Request): AnyListPolicy {
    const chosen = this.policyFor(request);
    const policy = chosen.variants.length > 0 ? chosen.seenBy(currentPrincipal()?.roles) : chosen;
    return this.#resolved.get(policy) ?? this.#checkDeclared(policy);
  }

  #schema(name: 'create' | 'update'): z.ZodObject {
    const schema = this.schemas[name];
    if (schema) return schema;
    throw new Error(`Expected schemas.${name} of ${this.constructor.name}, found none; it says what a body may be.`);
  }

  #withVersion(select: Selection): Selection {
    const { versionColumn } = this.service;
    return versionColumn === undefined ? select : { ...select, [versionColumn]: true };
  }

  /** Sets the ETag of a record where it has a version. */
  #tag(response: Response, record: object): string | undefined {
    const version = (record as Record<string, unknown>)[this.service.versionColumn ?? ''];
    if (version === undefined || version === null) return undefined;
    const tag = entityTag(version);
    response.setHeader('ETag', tag);
    return tag;
  }

  /** Makes a change to the version that If-Match names, or without it to any. */
  #ifMatch<T>(request: Request, change: () => Promise<T>): Promise<T> {
    const tags = readEntityTags(request.headers['if-match']);
    if (tags === undefined || tags === '*') return change();
    if (this.service.versionColumn === undefined) {
      throw new PreconditionFailedException(
        'Expected no If-Match, because these records have no versions; leave it out',
      );
    }
    return this.service.ifVersion(this.idOf(request), tags, change);
  }

  /** Cursors of this caller, good for no other who sees other rows. */
  #cursors(): CursorCodec {
    const scopeKey = this.service.scopeKey();
    return scopeKey === undefined ? this.cursors : cursorsOf(this.cursors, scopeKey);
  }

  // What is not declared would be neither bound to other modules nor in the leak tests.
  #checkDeclared(policy: AnyListPolicy): AnyListPolicy {
    const { list, otherLists } = this.schemas;
    if ([list, ...(otherLists ?? [])].flatMap(withVariants).includes(policy)) return policy;
    throw new Error(
      `Expected policyFor() of ${this.constructor.name} to give the list policy of its schemas or one of otherLists, ` +
        `got another of ${policy.model}; name it in otherLists.`,
    );
  }

  /**
   * One column of the record that the path names, for guards such as `auth.owns`.
   *
   * @throws NotFoundException when there is none, or the row scope hides it
   */
  async columnOf(request: Request, column: ColumnOf<S>): Promise<unknown> {
    const record = await this.service.get(this.idOf(request), { [column]: true });
    return (record as Record<string, unknown>)[column];
  }

  /**
   * The identifier in the path, in the type of the model's `id` and in its one spelling: a UUID in lower case.
   *
   * @throws NotFoundException for a text that none of the model's identifiers can be
   */
  idOf(request: Request): Parameters<S['get']>[0] {
    return readId(this.schemas.list.declared, request.params.id as string) as Parameters<S['get']>[0];
  }
}

/** A policy, and what callers with a role see in its place. */
function withVariants(policy: AnyListPolicy): AnyListPolicy[] {
  return [policy, ...policy.variants.map((variant) => variant.policy)];
}

/** Keeps what the policy lets out, also when a service answers with more. */
function readable(record: object, policy: AnyListPolicy): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([field]) => Object.hasOwn(policy.declared.select, field)));
}
