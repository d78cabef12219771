import process from 'node:process';
import { flushLogger, logger } from '../telemetry/logger.ts';

/**
 * Ends the process on faults that nobody caught (spec.md: Handling, rule 5): an uncaught exception is logged and the
 * process exits with code 1; an unhandled rejection is logged and thrown on, which makes it an uncaught exception.
 */
export function guardProcess(): void {
  process.once('uncaughtException', (error) => exitAfter(error, 'uncaught exception'));
  process.on('unhandledRejection', (reason) => {
    logger().error({ err: reason }, 'unhandled promise rejection');
    throw reason instanceof Error ? reason : new Error(`Unhandled rejection: ${String(reason)}`);
  });
}

/** Closes the service on SIGTERM and SIGINT and exits with code 0; a second signal exits at once. */
export function closeOnSignal(service: { close(): Promise<void> }): void {
  let closing = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      if (closing) process.exit(1);
      closing = true;
      logger().info({ signal }, 'closing');
      try {
        await service.close();
      } catch (error) {
        exitAfter(error, 'closing failed');
      }
      logger().info('closed');
      flushLogger();
      process.exit(0);
    });
  }
}

/** Writes a last line and exits with code 1. */
export function exitAfter(error: unknown, message: string): never {
  logger().fatal({ err: error }, message);
  flushLogger();
  process.exit(1);
}
