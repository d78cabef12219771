import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import process from 'node:process';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { TracingSettings } from './tracing.ts';

/** What spans say of the service that made them; OTEL_SERVICE_NAME stands over OTEL_RESOURCE_ATTRIBUTES. */
export function serviceResource(settings: TracingSettings): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.name': 'slipway',
      'service.instance.id': randomUUID(),
      'host.name': hostname(),
      'process.pid': process.pid,
      'process.runtime.name': 'nodejs',
      'process.runtime.version': process.versions.node,
      ...settings.OTEL_RESOURCE_ATTRIBUTES,
      ...(settings.OTEL_SERVICE_NAME !== undefined && { 'service.name': settings.OTEL_SERVICE_NAME }),
    }),
  );
}
