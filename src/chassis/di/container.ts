import { type AwilixContainer, createContainer as createAwilix, InjectionMode } from 'awilix/browser';

declare global {
  /** What a service tells the chassis about its types; each part is declared once, next to what it describes. */
  namespace Slipway {
    /** Everything that the container can give, by name; every module's di.ts extends it. */
    interface Cradle {}
    /** Settings that modules add to the chassis' own; each module's `<x>.config.ts` extends it. */
    interface Settings {}
    /** The generated ORM client and its models; `npm run generate` declares it. */
    interface Orm {}
  }
}

/** The container of a service; its cradle is typed by what every module's di.ts declares. */
export type Container = AwilixContainer<Slipway.Cradle>;

/** An empty container. */
export function createContainer(): Container {
  return createAwilix<Slipway.Cradle>({ injectionMode: InjectionMode.PROXY, strict: true });
}
