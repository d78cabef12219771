import { asClass } from 'awilix';
import { describe, expect, it } from 'vitest';
import { createContainer } from '../../../src/chassis/di/container.ts';
import { explainMissingDependency } from '../../../src/chassis/di/missing-dependency.ts';

class Service {
  constructor({ productRepositry }: Record<string, unknown>) {
    Object.assign(this, { productRepositry });
  }
}

class Controller {
  constructor({ productService }: Record<string, unknown>) {
    Object.assign(this, { productService });
  }
}

function explained(names: Record<string, new (cradle: never) => unknown>, asked: string): unknown {
  const container = createContainer();
  for (const [name, type] of Object.entries(names)) container.register(name, asClass(type as never).singleton());
  try {
    container.resolve(asked);
  } catch (error) {
    return explainMissingDependency(error, container);
  }
  return undefined;
}

describe('explainMissingDependency', () => {
  it('names what is missing, who asks for it, and what is nearly the same', () => {
    const names = { productRepository: Object, productService: Service, productController: Controller };
    expect(explained(names, 'productController')).toMatchObject({
      message:
        'Expected a dependency named productRepositry, asked for by productService, asked for by productController; ' +
        'found none, but productRepository. Correct the name, or provide it in the di.ts of an enabled module.',
      cause: { name: 'AwilixResolutionError' },
    });
  });

  it('names nothing where nothing is near', () => {
    expect(explained({ productService: Service }, 'productService')).toMatchObject({
      message: expect.stringMatching(/asked for by productService; found none\. Correct the name/),
    });
  });

  it('leaves other errors as they are', () => {
    const error = new Error('mine');
    expect(explainMissingDependency(error, createContainer())).toBe(error);
  });
});
