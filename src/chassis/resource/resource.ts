import type { Resolver } from 'awilix/browser';
import { type Class, type Made, madeOnce } from '../di/provide.ts';
import { type ResourceRepository, ResourceService } from './resource-service.ts';

/** The service of a resource that names none. */
type StandardService<R> = R extends ResourceRepository ? ResourceService<R> : never;

type ResourceNames<Name extends string, R, S, C> = Record<`${Name}Repository`, Resolver<R>> &
  Record<`${Name}Service`, Resolver<S>> &
  Record<`${Name}Controller`, Resolver<C>>;

/**
 * Wires the three classes of a resource and names them `<name>Repository`, `<name>Service` and `<name>Controller`:
 * the service gets its repository, the controller its service, and each the rest of the cradle.
 *
 * @param classes.service default: `ResourceService`, for a resource without rules of its own
 */
export function resource<
  Name extends string,
  R,
  S extends { readonly repositoryType?: R } = StandardService<R>,
  C extends { readonly serviceType?: S } = { readonly serviceType?: S },
>(
  name: Name,
  classes: { repository: Class<R>; service?: Class<S>; controller: Class<C> },
): ResourceNames<Name, R, S, C> {
  const one = (role: string) => (container: { resolve(name: string): unknown }) => container.resolve(`${name}${role}`);
  const { repository, service = ResourceService, controller } = classes;
  return {
    [`${name}Repository`]: madeOnce(repository as Made),
    [`${name}Service`]: madeOnce(service as Made).inject((container) => ({
      repository: one('Repository')(container as never),
    })),
    [`${name}Controller`]: madeOnce(controller as Made).inject((container) => ({
      service: one('Service')(container as never),
    })),
  } as ResourceNames<Name, R, S, C>;
}
