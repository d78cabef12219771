import { ForbiddenException, ResourceService, type Selection } from '../../chassis/index.ts';
import { isAdmin } from './caller.access.ts';
import type { UserRepository } from './user.repository.ts';
import type { CreateUser, UpdateUser } from './user.schema.ts';

type HashedUser = Parameters<UserRepository['create']>[0];
type Others = Pick<Slipway.Cradle, 'passwordService' | 'refreshTokenService' | 'avatarStore'>;

/**
 * Users: administrators create, change and delete them; a user changes its own name and avatar. That only the user
 * itself or an administrator comes here to write is the routes' guard.
 */
export class UserService extends ResourceService<UserRepository> {
  readonly #passwords: Others['passwordService'];
  readonly #refreshTokens: Others['refreshTokenService'];
  readonly #avatars: Others['avatarStore'];

  constructor({
    repository,
    passwordService,
    refreshTokenService,
    avatarStore,
  }: Others & { repository: UserRepository }) {
    super({ repository });
    this.#passwords = passwordService;
    this.#refreshTokens = refreshTokenService;
    this.#avatars = avatarStore;
  }

  /** Stores a new user, given a password or, by programs, its hash. ConflictException when the address is taken. */
  override async create(input: CreateUser | HashedUser, select?: Selection) {
    if (!('password' in input)) return super.create(input, select);
    const { password, ...user } = input;
    const passwordHash = await this.#passwords.hash(password, { personal: [user.email, user.name] });
    return super.create({ ...user, passwordHash }, select);
  }

  /** Changes a user; a new password ends its sessions. ForbiddenException when a user changes more than its name. */
  override async update(id: string, { password, ...changes }: UpdateUser, select?: Selection) {
    const { name: _own, ...reserved } = changes;
    if (!isAdmin() && (password !== undefined || Object.keys(reserved).length > 0)) {
      throw new ForbiddenException('A user changes its own name; the rest is for administrators');
    }
    if (password === undefined) return super.update(id, changes, select);
    const { email, name } = await this.repository.getById(id, { email: true, name: true });
    const personal = [email, name, changes.email ?? '', changes.name ?? ''];
    const passwordHash = await this.#passwords.hash(password, { personal });
    const updated = await super.update(id, { ...changes, passwordHash }, select);
    await this.#refreshTokens.revokeAll(id);
    return updated;
  }

  /** Removes a user with its profile, tokens and avatar. ForbiddenException for everybody but administrators. */
  override async delete(id: string) {
    if (!isAdmin()) throw new ForbiddenException('Users are deleted by administrators');
    await this.#avatars.remove(await this.repository.remove(id));
  }

  /** Makes a stored picture the avatar of a user and removes the one before. NotFoundException without such a user. */
  async setAvatar(id: string, fileName: string, select: Selection) {
    const { user, replaced } = await this.repository.replaceAvatar(id, this.#avatars.urlOf(fileName), select);
    await this.#avatars.remove(replaced);
    return user;
  }
}
