import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** A preload that writes a line to standard error for each file that is loaded of a package which not every service needs. */
registerHooks({
  load(url, context, nextLoad) {
    const [, name] =
      /node_modules\/(@sentry\/\w+|@opentelemetry\/sdk-[\w-]+|undici|cockatiel|pg-boss|cron-parser|@nats-io\/\w+)\//.exec(
        url,
      ) ?? [];
    if (name !== undefined) writeSync(2, `loaded ${name}\n`);
    return nextLoad(url, context);
  },
});
