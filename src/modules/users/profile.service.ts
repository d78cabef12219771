import { ForbiddenException, ResourceService, type Selection } from 'slipway';
import { callerId, isSelfOrAdmin } from './caller.access.ts';
import type { ProfileRepository } from './profile.repository.ts';
import type { CreateProfile, UpdateProfile } from './user.schema.ts';

/** Profiles: every user reads them, a user writes its own, an administrator any. */
export class ProfileService extends ResourceService<ProfileRepository> {
  /** Stores the one profile of a user. @throws ConflictException when it has one */
  override async create(input: CreateProfile, select?: Selection) {
    const userId = input.userId ?? callerId() ?? '';
    assertMayWrite(userId);
    return super.create({ ...input, userId }, select);
  }

  override async update(id: string, input: UpdateProfile, select?: Selection) {
    await this.#assertMayWriteTo(id);
    return super.update(id, input, select);
  }

  override async delete(id: string) {
    await this.#assertMayWriteTo(id);
    return super.delete(id);
  }

  async #assertMayWriteTo(id: string): Promise<void> {
    const { userId } = (await this.repository.getById(id, { userId: true })) as { userId: string };
    assertMayWrite(userId);
  }
}

function assertMayWrite(userId: string): void {
  if (!isSelfOrAdmin(userId)) throw new ForbiddenException('A profile is written by its own user or an administrator');
}
