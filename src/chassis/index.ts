/** The door: all that a module may use of the chassis. Importing it has no side effect. */

export { z } from 'zod';
export { FewAtOnce } from './admission/few-at-once.ts';
export { addressOf, type RateLimitPolicy, rateLimit } from './admission/rate-limit.ts';
export { type AppConfig, type ModuleConfig, type ServerConfig, serverConfig } from './config/app-config.ts';
export { ConfigurationError, type Environment, readEnvironment, type Variables } from './config/environment.ts';
export { issuerSettings } from './config/settings/identity-settings.ts';
export { flag, signingSecrets, wholeNumber } from './config/settings/setting-types.ts';
export type { Principal } from './context/principal.ts';
export {
  chargeRequest,
  claimCaller,
  currentPrincipal,
  getRequestContext,
  type RequestContext,
  setPrincipal,
  uninterrupted,
} from './context/request-context.ts';
export { runAs, unscoped } from './context/run-as.ts';
export { addHealthCheck, environment, maskInLogs, registerMetric, reportError } from './current-environment.ts';
export type { EachRecordOptions } from './database/each-record.ts';
export { Repository } from './database/repository.ts';
export { afterCommit } from './database/work/after-commit.ts';
export type { Isolation } from './database/work/unit.ts';
export { type UnitOfWorkOptions, unitOfWork } from './database/work/unit-of-work.ts';
export type { Container } from './di/container.ts';
export { type Dependencies, type Provided, provide } from './di/provide.ts';
export * from './errors/exceptions.ts';
export { logReporter } from './errors/reporters/log-reporter.ts';
export type { Reporter } from './errors/reporters/reporter.ts';
export { type Monitor, monitorReporter } from './errors/reporters/reporter.ts';
export {
  defineEvents,
  type EventDefinition,
  type EventDefinitions,
  type EventsOf,
} from './events/define-events.ts';
export type { Events } from './events/events.ts';
export { sendData, sendNoContent, sendPage } from './http/answers/responses.ts';
export { nameText } from './http/bodies/name-text.ts';
export { parseBody } from './http/bodies/parse-body.ts';
export { asyncHandler, publicAccess } from './http/pipeline/middleware.ts';
export { type QueryParameters, queryParameters } from './http/pipeline/query-parameters.ts';
export type { Columns } from './http/streams/csv-lines.ts';
export type { ServerEvent } from './http/streams/event-text.ts';
export { type EventsOptions, lastEventId, sendEvents } from './http/streams/send-events.ts';
export { type StreamOptions, sendStream } from './http/streams/send-stream.ts';
export { SharedPace } from './http/streams/shared-pace.ts';
export { type IdempotencyOptions, idempotent } from './idempotency/idempotent.ts';
export { type ApiKeyOptions, type ApiKeyStore, ApiKeys, type StoredApiKey } from './identity/api-keys.ts';
export { type BearerOptions, bearer } from './identity/bearer.ts';
export { bearerSchemes, bearerToken, claimedIssuer } from './identity/bearer-token.ts';
export { fixedToken } from './identity/fixed-token.ts';
export { type GuardOptions, Guards, guards, type IdentityNames } from './identity/guards.ts';
export { either, type IdentityDemand, type IdentityProvider } from './identity/identity-provider.ts';
export { findSigningKey, publicKeys, type SigningKey, signingKeys } from './identity/signing-keys.ts';
export { type TokenClaims, type TokenRules, TokenVerifier, type VerificationKeys } from './identity/token-verifier.ts';
export {
  type CronOptions,
  cron,
  defineJobs,
  every,
  type HandlerOptions,
  type JobDefinition,
  type JobRun,
  type JobsFactory,
  job,
  on,
  type QueueOptions,
  type RunOptions,
  type ScheduleOptions,
} from './jobs/define-jobs.ts';
export type { Duration } from './jobs/duration.ts';
export { eachByItself } from './jobs/each-by-itself.ts';
export type { Jobs, SendOptions } from './jobs/jobs.ts';
export { defineLifecycle, type LifecycleFactory, type ModuleLifecycle } from './lifecycle/define-lifecycle.ts';
export type { HealthCheck } from './lifecycle/health.ts';
export type { ChassisCradle } from './loaders/load-di.ts';
export { documented } from './openapi/documented.ts';
export type { AnyApi, HttpAnswer, HttpClient, HttpClientOptions } from './outbound/api-types.ts';
export { type HttpClientResolver, httpClient } from './outbound/http-client.ts';
export { from, fromAll } from './query/policy/computed-field.ts';
export { dateTime, decimal, int64 } from './query/policy/field-types.ts';
export { many } from './query/policy/list-definition.ts';
export { type AnyListPolicy, listPolicy } from './query/policy/list-policy.ts';
export { policyOf } from './query/policy/policy-reference.ts';
export type { FindQuery, PageResult, SearchQuery, Selection } from './query/query-types.ts';
export {
  buildFindOptions,
  buildSearchOptions,
  defaultQuerySchemas,
  type QuerySchemas,
  type SearchOptions,
  sanitizeSearchOptions,
  validateParam,
} from './query/search-options.ts';
export { resource } from './resource/resource.ts';
export { ResourceController } from './resource/resource-controller.ts';
export { defineRoutes, handle, type ResourceAccess, resourceRouter } from './resource/resource-router.ts';
export type { ResourceSchemas } from './resource/resource-schemas.ts';
export { ResourceService } from './resource/resource-service.ts';
export { createService, type Service, type ServiceOptions } from './service.ts';
export { createLogger, type Logger } from './telemetry/logger.ts';
export type { FileStore, StoredFile, Visibility } from './uploads/files/file-store.ts';
export { type ReceiveFileOptions, receivedFile, receiveFile } from './uploads/files/receive-file.ts';
export { sendFile } from './uploads/files/send-file.ts';
export { receiveUpload, removeUpload, type UploadedFile, uploadedFile } from './uploads/receive-upload.ts';
export type { UploadQuota } from './uploads/upload-usage.ts';
export type { SignatureScheme } from './webhooks/signature-schemes.ts';
export { type SignedByOptions, signedBy } from './webhooks/signed-by.ts';
