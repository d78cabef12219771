import { traceOutgoingRequests } from './outgoing-requests.ts';
import { meaninglessVariables } from './sdk-variables.ts';
import { propagateTrace } from './trace-context.ts';
import {
  apiRegistry,
  collectorOf,
  exportedSignals,
  type TelemetryOptions,
  type Tracing,
  type TracingDescription,
  type WithApiRegistry,
} from './tracing.ts';
import { trustedHosts } from './trusted-hosts.ts';

/** Where the service of the chassis that exports says so, for the process, before it loads the SDK. */
const claim = Symbol.for('slipway.telemetry');

type Global = WithApiRegistry & { [claim]?: true };

/**
 * Has every request belong to a trace and pass it on by `fetch` and `node:http`. Spans, metrics and logs are exported only
 * where the settings say so; otherwise no part of OpenTelemetry is even loaded. Another SDK that is at work in the process
 * is used, with a warning.
 */
export async function startTracing(options: TelemetryOptions): Promise<Tracing> {
  warnOfVariables(options);
  const tracing = await tracingOf(options);
  const stopOutgoing = traceOutgoingRequests({
    trusts: trustedHosts(options.settings.OUTBOUND_TRUSTED_HOSTS),
    isCurrent: options.isCurrent,
    tracer: tracing.outgoing,
  });
  return {
    ...tracing,
    async close() {
      stopOutgoing();
      await tracing.close();
    },
  };
}

async function tracingOf(options: TelemetryOptions): Promise<Tracing> {
  const { settings, logger } = options;
  const shared = globalThis as Global;
  const [signal] = exportedSignals(settings);
  if (shared[apiRegistry]?.trace && !shared[claim]) {
    const { joinForeignSdk } = await import('./foreign-sdk.ts');
    return joinForeignSdk(logger);
  }
  if (signal === undefined) return onlyPropagate('none');
  if (shared[claim]) {
    logger.warn(
      { exportsTo: collectorOf(settings, signal) },
      'telemetry not exported: another service of this process owns the tracer provider; start only one with an OTLP endpoint',
    );
    return onlyPropagate('of another service of this process');
  }
  return exportAlone(options, shared);
}

/** Claims the export before anything is awaited, because another service may start at the same time. */
async function exportAlone(options: TelemetryOptions, shared: Global): Promise<Tracing> {
  shared[claim] = true;
  try {
    const { exportTelemetry } = await import('./export-telemetry.ts');
    const tracing = await exportTelemetry(options);
    return {
      ...tracing,
      async close() {
        await tracing.close();
        delete shared[claim];
      },
    };
  } catch (error) {
    delete shared[claim];
    throw error;
  }
}

function onlyPropagate(tracerProvider: TracingDescription['tracerProvider']): Tracing {
  return {
    observer: propagateTrace,
    reporters: [],
    describe: () => ({ exportsTo: undefined, tracerProvider }),
    close: async () => undefined,
  };
}

function warnOfVariables({ variables, logger }: TelemetryOptions): void {
  const names = meaninglessVariables(variables);
  if (names.length > 0) logger.warn({ variables: names }, `variables without effect: ${names.join(', ')}`);
}
