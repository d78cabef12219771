/**
 * The table of jobs on SQLite; times are milliseconds since 1970. Its name stands out beside those of models. `seq` orders
 * jobs as they were stored.
 */
export const sqliteJobTables = `
CREATE TABLE IF NOT EXISTS slipway_jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  queue TEXT NOT NULL,
  policy TEXT NOT NULL,
  key TEXT,
  data TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'dead')),
  attempt INTEGER NOT NULL DEFAULT 0,
  run_at INTEGER NOT NULL,
  lease_until INTEGER,
  expires_at INTEGER,
  ended_at INTEGER,
  reason TEXT,
  UNIQUE (queue, id)
);
CREATE INDEX IF NOT EXISTS slipway_jobs_due ON slipway_jobs (queue, state, run_at);
CREATE INDEX IF NOT EXISTS slipway_jobs_key ON slipway_jobs (queue, key, seq) WHERE state IN ('waiting', 'running');
CREATE UNIQUE INDEX IF NOT EXISTS slipway_jobs_single ON slipway_jobs (queue) WHERE policy = 'single' AND state IN ('waiting', 'running');
`;
