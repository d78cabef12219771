import type {} from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** A migrated database; each booted service copies it. */
    sqliteTemplate: string;
    /** URL of the PostgreSQL server's maintenance database. */
    postgresUrl: string;
    postgresTemplate: string;
  }
}
