import { z } from 'zod';
import { BadRequestException } from './exceptions.ts';

const maximumIssues = 50;

/** What is wrong with one place of invalid data. */
interface DataIssue {
  /** Dotted path; empty for the data as a whole. */
  path: string;
  message: string;
}

/**
 * A zod error as a 400 `Invalid request data` with `details.issues`, at most 50 (spec.md: Errors, body rule 5).
 * A request body's failure is a ValidationException instead, which `parseBody` raises.
 */
export function convertZodError(error: unknown): BadRequestException | undefined {
  if (!(error instanceof z.core.$ZodError)) return undefined;
  const issues = error.issues
    .slice(0, maximumIssues)
    .map(({ path, message }): DataIssue => ({ path: path.map(String).join('.'), message }));
  return new BadRequestException('Invalid request data', { issues }, { cause: error });
}
