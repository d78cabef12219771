import { z } from 'zod';
import { databaseUrlProblem } from './database-url-problem.ts';
import { wholeNumber } from './setting-types.ts';

/** The read replica of the database. */
export const replicaSettings = {
  DATABASE_READ_URL: z
    .string()
    .check((url) => {
      const isPostgresql = /^postgres(ql)?:/.test(url.value);
      const message = isPostgresql ? databaseUrlProblem(url.value) : 'expected postgresql://…, a streaming replica';
      if (message) url.issues.push({ code: 'custom', message, input: url.value });
    })
    .optional()
    .describe('A streaming replica of the database of DATABASE_URL, for lists; PostgreSQL only')
    .meta({ secret: true }),
  DATABASE_READ_WAIT_MS: wholeNumber(0, 10_000, 20).describe(
    'How long a list waits for the replica to have all that was written before, in milliseconds; then it is read from DATABASE_URL',
  ),
};
