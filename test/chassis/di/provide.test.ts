import { asValue, createContainer } from 'awilix';
import { describe, expect, it } from 'vitest';
import type { Container } from '../../../src/chassis/di/container.ts';
import { provide } from '../../../src/chassis/di/provide.ts';
import { resource } from '../../../src/chassis/resource/resource.ts';
import { ResourceService } from '../../../src/chassis/resource/resource-service.ts';

class Clock {
  static made = 0;
  constructor() {
    Clock.made++;
  }
}

class Repository {
  readonly rows = ['a'];
}

class Service {
  declare readonly repositoryType?: Repository;
  readonly repository: Repository;
  readonly clock: Clock;
  constructor({ repository, clock }: { repository: Repository; clock: Clock }) {
    this.repository = repository;
    this.clock = clock;
  }
}

class Controller {
  declare readonly serviceType?: Service;
  readonly service: Service;
  constructor({ service }: { service: Service }) {
    this.service = service;
  }
}

function cradleOf(register: (container: Container) => void) {
  const container = createContainer({ strict: true });
  register(container as unknown as Container);
  return container.cradle as Record<string, never>;
}

describe('provide', () => {
  it('makes each class once, with the cradle', () => {
    Clock.made = 0;
    const { clock, again } = cradleOf((container) => {
      provide({ clock: Clock, again: asValue(7) })(container);
    });
    expect(clock).toBeInstanceOf(Clock);
    expect(again).toBe(7);
    expect(Clock.made).toBe(1);
  });

  it('refuses a constructor that takes the rest of the dependencies, and says what to do', () => {
    class Greedy {
      readonly others: object;
      constructor({ clock: _clock, ...others }: { clock: Clock }) {
        this.others = others;
      }
    }
    const message = /constructor of Greedy to name each dependency, found a rest .*name them one by one/;
    expect(() => cradleOf(provide({ clock: Clock, greedy: Greedy })).greedy).toThrow(message);
    const greedyService = { repository: Repository, service: Greedy, controller: Controller };
    const cradle = cradleOf(provide({ clock: Clock, ...resource('thing', greedyService as never) }));
    expect(() => cradle.thingController).toThrow(message);
  });

  it('gives the whole cradle on to the class above', () => {
    class Narrow extends Service {
      readonly kept: object;
      constructor(dependencies: { repository: Repository; clock: Clock }) {
        super(dependencies);
        this.kept = dependencies;
      }
    }
    const cradle = cradleOf(provide({ clock: Clock, repository: Repository, narrow: Narrow }));
    expect(cradle.narrow).toMatchObject({ clock: cradle.clock, kept: expect.anything() });
  });

  it('refuses names that another module registered, and says which', () => {
    const register = provide({ clock: Clock });
    expect(() =>
      cradleOf((container) => {
        register(container);
        register(container);
      }),
    ).toThrow(/Expected dependency names that are free, found clock .*give each dependency a name of its own/);
  });
});

describe('resource', () => {
  it('hands the service its repository and the controller its service, beside the cradle', () => {
    const { itemController, itemService, clock } = cradleOf(
      provide({
        clock: Clock,
        ...resource('item', { repository: Repository, service: Service, controller: Controller }),
      }),
    ) as unknown as { itemController: Controller; itemService: Service; clock: Clock };
    expect(itemController.service).toBe(itemService);
    expect(itemService.repository.rows).toEqual(['a']);
    expect(itemService.clock).toBe(clock);
  });

  it('makes the standard service for a resource that names none, over its repository', () => {
    class Shown {
      readonly service: ResourceService;
      constructor({ service }: { service: ResourceService }) {
        this.service = service;
      }
    }
    const cradle = cradleOf(
      provide(resource('item', { repository: Repository as never, controller: Shown as never })),
    ) as unknown as {
      itemController: Shown;
      itemRepository: object;
    };
    const { service } = cradle.itemController;
    expect(service).toBeInstanceOf(ResourceService);
    expect(service).toMatchObject({ repository: cradle.itemRepository });
  });

  it('gives a service the cradle, from which its fields take what it needs', () => {
    class Counted extends ResourceService<never> {
      readonly clock = (this.cradle as unknown as { clock: Clock }).clock;
    }
    const cradle = cradleOf(
      provide({
        clock: Clock,
        ...resource('item', {
          repository: Repository as never,
          service: Counted as never,
          controller: Controller as never,
        }),
      }),
    ) as unknown as { itemService: Counted; clock: Clock };
    expect(cradle.itemService.clock).toBe(cradle.clock);
  });

  it('refuses at compile time what does not belong together', () => {
    class Stranger {
      declare readonly serviceType?: { unlike: true };
    }
    // @ts-expect-error a controller of another service
    expect(resource('item', { repository: Repository, service: Service, controller: Stranger })).toBeDefined();
  });
});
