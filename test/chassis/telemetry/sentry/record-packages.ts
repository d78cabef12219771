import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** A preload that writes a line to standard error for each file of Sentry or OpenTelemetry's SDK that is loaded. */
registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /node_modules\/(@sentry\/\w+|@opentelemetry\/sdk-[\w-]+)\//.exec(url) ?? [];
    if (name !== undefined) writeSync(2, `loaded ${name}\n`);
    return nextLoad(url, context);
  },
});
