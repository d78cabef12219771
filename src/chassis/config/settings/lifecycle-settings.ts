import { wholeNumber } from './setting-types.ts';

/** How long things may take: to shut down, to find the database at start, and for a client to send and to read. */
export const lifecycleSettings = {
  SHUTDOWN_ACCEPT_MS: wholeNumber(0, 600_000, 0).describe(
    'How long connections are still accepted after SIGTERM, with readiness off, in milliseconds',
  ),
  SHUTDOWN_DEADLINE_MS: wholeNumber(0, 3_600_000, 25_000).describe(
    'Time from SIGTERM until requests still in flight are cut, in milliseconds',
  ),
  SHUTDOWN_CLOSER_TIMEOUT_MS: wholeNumber(1, 600_000, 2000).describe(
    'How long each thing that was opened may take to close, and all together twice as long, in milliseconds',
  ),
  DATABASE_CONNECT_TIMEOUT_MS: wholeNumber(0, 3_600_000, 2000).describe(
    'How long a start waits for a database that cannot be reached, in milliseconds',
  ),
  HTTP_HEADERS_TIMEOUT_MS: wholeNumber(1, 3_600_000, 10_000).describe(
    'How long a client may take to send the headers of a request, in milliseconds',
  ),
  HTTP_RECEIVE_TIMEOUT_MS: wholeNumber(1, 3_600_000, 60_000).describe(
    'How long a client may take to send a whole request, in milliseconds',
  ),
  // The usual load balancers keep idle connections for 60 s. Who closes first must be they: a request that they send on a
  // connection which is closing at that moment fails.
  HTTP_KEEP_ALIVE_TIMEOUT_MS: wholeNumber(1, 3_600_000, 65_000).describe(
    'How long an idle connection stays open, in milliseconds; longer than the load balancer keeps it',
  ),
  HTTP_SEND_TIMEOUT_MS: wholeNumber(1, 3_600_000, 20_000).describe(
    'How long a client may stop reading its answer before it is disconnected, in milliseconds',
  ),
  HTTP_SEND_BUDGET_BYTES: wholeNumber(1, 1_000_000_000_000, 67_108_864)
    .describe(
      'Unsent answers of all clients together, in bytes; beyond it connections of the address that holds the most are cut, the one stalled longest first',
    )
    .meta({ derived: 'an eighth of the memory limit, `67108864` at most' }),
  HTTP_MAX_CONNECTIONS: wholeNumber(1, 1_000_000, 5000)
    .describe(
      'Connections that may be open; each takes 6 to 25 KB of memory. The memory limit is that of the container, or 4/3 of the heap limit where that is less',
    )
    .meta({ derived: 'one for each 128 KiB of the memory limit, `5000` at most; 2048 in 256 MiB' }),
  HTTP_MAX_CONNECTIONS_PER_ADDRESS: wholeNumber(1, 1_000_000, 1000).describe(
    'Connections that one client address, or one /64 of IPv6, may have open; those of proxies that TRUST_PROXY names count only in total, or for the client whose request is under way on them',
  ),
};
