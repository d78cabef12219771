import { importFile } from '../config/layout.ts';
import type { EventDefinition, EventDefinitions } from '../events/define-events.ts';
import { StartUpError } from '../lifecycle/start-up-report.ts';
import type { Service } from '../service.ts';
import { moduleFiles } from './module-files.ts';

const form = /^[a-z][a-z0-9]*([.-][a-z0-9]+)*$/;

/** The events that the enabled modules declare, and a sentence for each invalid declaration. */
export async function declaredEvents(
  service: Service,
): Promise<{ events: Map<string, EventDefinition>; problems: string[] }> {
  const events = new Map<string, EventDefinition>();
  const problems: string[] = [];
  const from = new Map<string, string>();
  for (const { module, file, path } of moduleFiles('events', service)) {
    const place = `${module}/${file}`;
    for (const [name, definition] of Object.entries(await definitionsOf(path, place))) {
      if (!form.test(name) || name.length > 80) {
        problems.push(
          `${place}: expected an event of lower-case words joined by - or ., such as order.placed; found "${name}"`,
        );
      }
      const twin = from.get(name);
      if (twin !== undefined)
        problems.push(`${place}: expected each event once, found ${name} in ${twin} too; rename one`);
      const { data, key } = definition;
      const fields = Object.keys(data.shape);
      if (key !== undefined && !fields.includes(key)) {
        problems.push(
          `${place}: expected the key of ${name} to be a field of its data (${fields.join(', ')}), found ${key}`,
        );
      }
      from.set(name, place);
      events.set(name, definition);
    }
  }
  return { events, problems };
}

async function definitionsOf(path: string, place: string): Promise<EventDefinitions> {
  try {
    const { default: definitions } = await importFile(path);
    if (typeof definitions === 'object' && definitions !== null) return definitions;
    throw new StartUpError(`expected its default export to be defineEvents({ … }), found ${typeof definitions}`);
  } catch (cause) {
    throw new StartUpError(`${place} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
