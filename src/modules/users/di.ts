import { type Provided, provide, resource } from 'slipway';
import { AvatarStore } from './avatar.store.ts';
import { ProfileController } from './profile.controller.ts';
import { ProfileRepository } from './profile.repository.ts';
import { ProfileService } from './profile.service.ts';
import { UserController } from './user.controller.ts';
import { UserRepository } from './user.repository.ts';
import { UserService } from './user.service.ts';

const dependencies = {
  avatarStore: AvatarStore,
  ...resource('user', { repository: UserRepository, service: UserService, controller: UserController }),
  ...resource('profile', { repository: ProfileRepository, service: ProfileService, controller: ProfileController }),
};

export const registerDependencies = provide(dependencies);

declare global {
  namespace Slipway {
    interface Cradle extends Provided<typeof dependencies> {}
  }
}
