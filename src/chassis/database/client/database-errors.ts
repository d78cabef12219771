import { modelWords, notFoundMessage } from '../../errors/error-body.ts';
import {
  BadRequestException,
  BaseException,
  ConflictException,
  DatabaseException,
  DatabaseUnavailableException,
  InternalServerErrorException,
  NotFoundException,
} from '../../errors/exceptions.ts';
import type { DataModel } from '../models/data-model.ts';
import {
  classifyDatabaseError,
  type Fault,
  type FaultKind,
  isAnswerLost,
  noConnectionFree,
} from './classify-database-error.ts';
import { declaredFields, referringFields, relationFields } from './conflict-fields.ts';

/** The operation that raised an error; it makes the message name both, and is in the context of the exception. */
interface FailedOperation {
  readonly model?: string | undefined;
  readonly operation: string;
  /** What it was called with. */
  readonly args?: unknown;
  /** Tells the fields of a broken constraint; without it they are guessed of its name. */
  readonly dataModel?: DataModel | undefined;
}

type Conversion = (fault: Fault, operation: FailedOperation | undefined) => BaseException;

const conversions: Record<FaultKind, Conversion> = {
  duplicate: ({ error, model, fields }) => {
    const what = fields ? `this ${fields.join(' and ')}` : 'one of these values';
    return new ConflictException(`Another ${modelWords(model)} has ${what} already`, fields && { fields }, {
      cause: error,
    });
  },
  reference: ({ error, model, fields }, operation) => {
    const message = operation?.operation.startsWith('delete')
      ? `Other records still refer to this ${modelWords(model)}`
      : `A record that this ${modelWords(model)} refers to does not exist`;
    return new ConflictException(message, fields && { fields }, { cause: error });
  },
  missing: ({ error, model }) => new NotFoundException(notFoundMessage(model), undefined, { cause: error }),
  check: ({ error, model }) =>
    new ConflictException(`The values of this ${modelWords(model)} break a rule of the database`, undefined, {
      cause: error,
    }),
  invalid: ({ error }) => new BadRequestException('Invalid request data', undefined, { cause: error }),
  mistake: ({ error }) =>
    new InternalServerErrorException(`A query does not fit the models: ${hint(error)}`, undefined, { cause: error }),
  unavailable: ({ error, reason }) =>
    new DatabaseUnavailableException(reason && `Database Unavailable: ${reason}`, undefined, {
      cause: error,
      mayBeStored: isAnswerLost(reason),
      // Refused thousands of times a minute under load, it would fill the log with stacks of the queue.
      stack: reason !== noConnectionFree,
    }),
  failed: ({ error, model }, operation) =>
    new DatabaseException(failureText(model, operation), undefined, { cause: error }),
};

/**
 * Turns an error of Prisma or of its drivers into an exception, with the error as its cause; undefined for any other
 * error, so that it serves as a converter of the error handler (spec.md: Errors, body rules 3, 5 and 7). A duplicate, a
 * broken reference and a broken rule become 409, a missing record 404 (a missing record that another is to be related to 409), data that the database refuses 400, a database
 * that cannot be reached, cannot be written or has no time or connection left 503, and everything else 500; one that the
 * client refuses because it does not fit the models is a mistake of the program and not operational. Given the operation, the error is the database's whatever it is.
 */
export function toDatabaseException(error: unknown, operation?: FailedOperation): BaseException | undefined {
  if (error instanceof BaseException) return error;
  const found = classifyDatabaseError(error) ?? (operation && { kind: 'failed' as const, error });
  if (!found) return undefined;
  const model = operation?.model ?? found.model;
  const fault = model === undefined ? found : { ...found, model };
  const fields = fieldsOf(fault, operation);
  const exception = conversions[found.kind](fields ? { ...fault, fields } : fault, operation);
  if (operation) exception.context = { ...exception.context, operation: operation.operation, ...(model && { model }) };
  return exception;
}

function fieldsOf(fault: Fault, operation: FailedOperation | undefined): readonly string[] | undefined {
  const { dataModel, args } = operation ?? {};
  if (fault.related) return relationFields(dataModel, fault.model, args);
  const unnamed = fault.kind === 'reference' && fault.index === undefined;
  return unnamed ? referringFields(dataModel, fault.model, args) : declaredFields(dataModel, fault);
}

/** Names the query for readers of the log. */
function failureText(model: string | undefined, operation: FailedOperation | undefined): string | undefined {
  if (operation === undefined) return undefined;
  return `Database Operation Failed: ${operation.operation}${model === undefined ? '' : ` of ${model}`}`;
}

/** What the client says of arguments that it refuses. Only the last line of its text holds no values. */
function hint(error: unknown): string | undefined {
  return error instanceof Error ? error.message.trimEnd().split('\n').at(-1) : undefined;
}
