import { type AwilixContainer, createContainer as createAwilix, InjectionMode } from 'awilix/browser';

/** The container of a service; its cradle is typed by what every module's di.ts declares. */
export type Container = AwilixContainer<Slipway.Cradle>;

/** An empty container. */
export function createContainer(): Container {
  return createAwilix<Slipway.Cradle>({ injectionMode: InjectionMode.PROXY, strict: true });
}
