/** The operations of a model on the ORM's client, as far as the chassis uses them; the same for every model. */
export interface Delegate {
  findMany(parameters: object): Promise<object[]>;
  findUnique(parameters: object): Promise<object | null>;
  count(parameters: object): Promise<number>;
  create(parameters: object): Promise<object>;
  createMany(parameters: object): Promise<{ count: number }>;
  update(parameters: object): Promise<object>;
  delete(parameters: object): Promise<object>;
  updateManyAndReturn(parameters: object): Promise<object[]>;
  updateMany(parameters: object): Promise<{ count: number }>;
  deleteMany(parameters: object): Promise<{ count: number }>;
}

/**
 * The operations of a model.
 *
 * @param client the ORM client, or inside a transaction the transaction's
 * @param model its name or its accessor, `Product` or `product`
 */
export function delegateOf(client: object, model: string): Delegate {
  return (client as Record<string, Delegate>)[model.charAt(0).toLowerCase() + model.slice(1)] as Delegate;
}

/** The name of the model whose accessor this is: `Product` of `product`. */
export function modelNameOf(accessor: string): string {
  return accessor.charAt(0).toUpperCase() + accessor.slice(1);
}
