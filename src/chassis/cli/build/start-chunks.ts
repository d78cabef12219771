import { join } from 'node:path';
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown';
import { chassisFile } from '../../config/layout.ts';

/** What runs in a thread of its own or beside the service, and what runs before the process is guarded: they load nothing else. */
const apart = ['database/sqlite/sqlite-worker', 'image/health-check', 'config/layout'];
/** What `src/chassis/run.ts` loads before the rest. */
const guards = ['lifecycle/process-guards', 'lifecycle/shutdown', 'lifecycle/young-generation', 'config/environment'];

/**
 * Puts what every start loads into four files: that of the chassis and its packages before the process is guarded, and that
 * of the service after it. By who imports what these would be fifty, and each takes a third of a millisecond to find and open.
 *
 * @param source absolute path of what holds `app.config.ts`
 * @param foreign matches modules of packages
 */
export function startChunks(source: string, foreign: RegExp): CodeSplittingGroup[] {
  const stages = {
    apart: apart.map(chassisFile),
    guards: guards.map(chassisFile),
    start: [join(source, 'app.config.ts'), chassisFile('service')],
  };
  let found: Map<string, string> | undefined;
  const stageOf = (id: string, context: ChunkingContext) => {
    found ??= membersOf(stages, context);
    return found.get(id);
  };
  return Object.keys(stages).flatMap((stage) =>
    // A group takes along what its modules import, so that of the packages comes first.
    [true, false].map((ofPackages) => {
      const name = ofPackages ? `node_modules-${stage}` : stage;
      return {
        debugName: name,
        entriesAware: stage === 'apart',
        name: (id: string, context: ChunkingContext) =>
          foreign.test(id) === ofPackages && stageOf(id, context) === stage ? name : null,
      };
    }),
  );
}

/** Of each module that one of them imports at once, directly or not, the first that does. */
function membersOf(stages: Record<string, string[]>, context: ChunkingContext): Map<string, string> {
  const members = new Map<string, string>();
  for (const [stage, roots] of Object.entries(stages)) {
    const pending = [...roots];
    for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
      if (members.has(id)) continue;
      members.set(id, stage);
      pending.push(...(context.getModuleInfo(id)?.importedIds ?? []));
    }
  }
  return members;
}
