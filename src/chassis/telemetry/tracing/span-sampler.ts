import { trace } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { TracingSettings } from './tracing.ts';

const notRecorded = { decision: SamplingDecision.NOT_RECORD };

/**
 * The sampler that OTEL_TRACES_SAMPLER names. Queries of health checks and of the start, which belong to no request,
 * begin no trace.
 */
export function spanSampler(settings: TracingSettings): Sampler {
  const name = settings.OTEL_TRACES_SAMPLER;
  const root = rootSampler(name.replace('parentbased_', ''), settings.OTEL_TRACES_SAMPLER_ARG ?? 1);
  const sampler = name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
  return {
    shouldSample(parent, traceId, spanName, ...more) {
      if (spanName.startsWith('prisma:') && trace.getSpan(parent) === undefined) return notRecorded;
      return sampler.shouldSample(parent, traceId, spanName, ...more);
    },
    toString: () => sampler.toString(),
  };
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler();
  return name === 'always_off' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}
