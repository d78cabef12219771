import { type AwilixContainer, createContainer, InjectionMode } from 'awilix/browser';

/** The container of the running service; its cradle is typed by what every module's di.ts declares. */
export type Container = AwilixContainer<Slipway.Cradle>;

let current: Container | undefined;

/** The container of the running service, made on first use. */
export function container(): Container {
  current ??= createContainer<Slipway.Cradle>({ injectionMode: InjectionMode.PROXY, strict: true });
  return current;
}

/** Disposes of everything that the container made and forgets it, so that the next start begins anew. */
export async function disposeContainer(): Promise<void> {
  const disposed = current;
  current = undefined;
  await disposed?.dispose();
}
