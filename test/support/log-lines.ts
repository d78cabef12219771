import { Writable } from 'node:stream';
import { createLogger } from '../../src/chassis/telemetry/logger.ts';

/** One line of a log as a record. */
export type LoggedLine = Record<string, unknown> & { msg: string };

/** A logger, and what was written with it. */
export function recordingLogger(level = 'info') {
  const lines: LoggedLine[] = [];
  const waiting: (() => void)[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      const written = String(chunk).trim().split('\n');
      lines.push(...written.map((line) => JSON.parse(line) as LoggedLine));
      for (const look of waiting) look();
      done();
    },
  });
  const logger = createLogger({ level, pretty: false, destination });
  /** Resolves with the first `count` lines of this message, once they are there. */
  const line = (msg: string, count = 1): Promise<LoggedLine[]> =>
    new Promise((resolve) => {
      const look = () => {
        const found = lines.filter((candidate) => candidate.msg === msg);
        if (found.length >= count) resolve(found.slice(0, count));
      };
      waiting.push(look);
      look();
    });
  return { logger, lines, line };
}
