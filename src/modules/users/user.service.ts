import { ForbiddenException, ResourceService, type Selection } from 'slipway';
import { callerId, isAdmin } from './caller.access.ts';
import type { UserRepository } from './user.repository.ts';
import type { CreateUser, UpdateUser } from './user.schema.ts';

type HashedUser = Parameters<UserRepository['create']>[0];
type Others = Pick<Slipway.Cradle, 'passwordService' | 'administrationService' | 'avatarStore'>;

/**
 * Users: administrators create, change and delete them; a user changes its own name and avatar. That only the user
 * itself or an administrator comes here to write is the routes' guard.
 */
export class UserService extends ResourceService<UserRepository> {
  readonly #passwords: Others['passwordService'];
  readonly #administration: Others['administrationService'];
  readonly #avatars: Others['avatarStore'];

  constructor({
    repository,
    passwordService,
    administrationService,
    avatarStore,
  }: Others & { repository: UserRepository }) {
    super({ repository });
    this.#passwords = passwordService;
    this.#administration = administrationService;
    this.#avatars = avatarStore;
  }

  /**
   * Stores a new user, given a password or, by programs, its hash.
   *
   * @throws ConflictException when the address is taken
   * @throws ValidationException for a password that is easy to guess, and what `AdministrationService.change` throws
   */
  override async create(input: CreateUser | HashedUser, select?: Selection) {
    if (!('password' in input)) return super.create(input, select);
    const { password, ...user } = input;
    const passwordHash = await this.#passwords.hash(password, { personal: [user.email, user.name] });
    const event = { action: 'account.created', details: `role: ${user.role}`, subjectId: undefined } as const;
    return this.#administration.change(event, () => super.create({ ...user, passwordHash }, select));
  }

  /**
   * Changes a user; a new password ends its sessions, and `revokeApiKeys` its API keys.
   *
   * @throws ForbiddenException when a user changes more than its name, or an administrator takes the role from itself
   * @throws ValidationException for a password that is easy to guess, and what `AdministrationService.change` throws
   */
  override async update(id: string, { password, revokeApiKeys = false, ...changes }: UpdateUser, select?: Selection) {
    const { name: _own, ...reserved } = changes;
    if (password === undefined && !revokeApiKeys && Object.keys(reserved).length === 0) {
      return super.update(id, changes, select);
    }
    if (!isAdmin()) throw new ForbiddenException('A user changes its own name; the rest is for administrators');
    if (changes.role !== undefined && changes.role !== 'admin') refuseOwn(id);
    const passwordHash = password === undefined ? undefined : await this.#newHash(id, password, changes);
    const details = async () => {
      const before = await this.repository.getById(id, { email: true, role: true, organizationId: true });
      const changed = [
        changes.role !== undefined && changes.role !== before.role && `role: ${before.role} to ${changes.role}`,
        changes.email !== undefined && changes.email !== before.email && 'email',
        password !== undefined && 'password',
        changes.organizationId !== undefined && changes.organizationId !== before.organizationId && 'organization',
        revokeApiKeys && 'API keys revoked',
      ];
      return changed.filter(Boolean).join(', ');
    };
    const ends = { endSessions: password !== undefined, revokeApiKeys };
    return this.#administration.change({ action: 'account.changed', subjectId: id, details, ...ends }, () =>
      super.update(id, { ...changes, ...(passwordHash !== undefined && { passwordHash }) }, select),
    );
  }

  /** Removes a user with its profile, sessions and avatar. ForbiddenException for everybody but other administrators. */
  override async delete(id: string) {
    if (!isAdmin()) throw new ForbiddenException('Users are deleted by administrators');
    refuseOwn(id);
    const removed = await this.#administration.change({ action: 'account.deleted', subjectId: id }, async () => ({
      avatarUrl: await this.repository.remove(id),
    }));
    await this.#avatars.remove(removed.avatarUrl);
  }

  /** Makes a stored picture the avatar of a user and removes the one before. NotFoundException without such a user. */
  async setAvatar(id: string, fileName: string, select: Selection) {
    const { user, replaced } = await this.repository.replaceAvatar(id, this.#avatars.urlOf(fileName), select);
    await this.#avatars.remove(replaced);
    return user;
  }

  async #newHash(id: string, password: string, changes: UpdateUser): Promise<string> {
    const before = await this.repository.getById(id, { email: true, name: true });
    const personal = [before.email, before.name, changes.email ?? '', changes.name ?? ''];
    return this.#passwords.hash(password, { personal });
  }
}

/** Who makes such a change is an administrator and remains one, so the service never loses its last. */
function refuseOwn(id: string): void {
  // A database of UUIDs takes capitals too.
  if (id.toLowerCase() !== callerId()) return;
  throw new ForbiddenException('Another administrator takes the role from you or deletes you, so that one remains');
}
