/** What a module does before the service serves and after it stopped serving. */
export interface ModuleLifecycle {
  /**
   * Runs once, after all modules are registered and before the service listens. What it raises stops the start.
   *
   * @param signal aborted when the service is closed while it starts
   */
  start?(signal: AbortSignal): unknown;
  /**
   * Runs once, after the last request and job have ended and while the database is still open; only where `start` was
   * done. It has SHUTDOWN_CLOSER_TIMEOUT_MS, then the shutdown goes on without it.
   */
  stop?(): unknown;
}

/** A lifecycle file's default export: makes the module's hooks from the container's cradle. */
export type LifecycleFactory = (cradle: Slipway.Cradle) => ModuleLifecycle;

/**
 * Declares the hooks of a module, as the default export of its `<x>.lifecycle.ts`. Modules start one after the other, in
 * the order of AppConfig, and stop in reverse. The cradle is typed, so that a misspelt dependency is a type error.
 */
export function defineLifecycle(factory: LifecycleFactory): LifecycleFactory {
  return factory;
}
