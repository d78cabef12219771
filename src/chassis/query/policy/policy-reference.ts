import type { ModelName } from './model-types.ts';

/**
 * The list policy of a resource that another module mounts, by its name. It is a name and nothing else: each service
 * leads it to the policy that its own modules mount.
 */
export class PolicyReference<M extends string = string> {
  readonly module: string;
  readonly model: M;

  /** Use `policyOf`. */
  constructor(module: string, model: M) {
    this.module = module;
    this.model = model;
  }

  toString(): string {
    return `policyOf('${this.module}', '${this.model}')`;
  }
}

/**
 * The list policy of a resource of another module, for a relation that leads there:
 * `include: { category: policyOf('catalog', 'Category') }`, and `many(policyOf('catalog', 'Product'))` for a relation to
 * many. What may be asked of the other resource is then said once, by its own module. A start whose modules mount no
 * such resource is refused with a StartUpError that names both sides (docs/decisions/0021).
 *
 * @param module name of the module that mounts the resource, as in AppConfig
 * @param model name of the model, which has to be the one that the relation leads to
 */
export function policyOf<const M extends ModelName>(module: string, model: M): PolicyReference<M> {
  return new PolicyReference(module, model);
}
