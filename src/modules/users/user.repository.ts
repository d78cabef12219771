import { Repository } from 'slipway';

/** A user's record after its avatar was set, and the avatar that it had before. */
export interface ReplacedAvatar {
  user: object;
  replaced: string | null;
}

/** The stored users. */
export class UserRepository extends Repository<'user'> {
  protected readonly model = 'user';

  /**
   * Sets a user's avatar. Each avatar is given back as replaced once, also when several are set at once.
   *
   * @throws NotFoundException when there is no such user
   */
  async replaceAvatar(id: string, avatarUrl: string, select: Record<string, unknown>): Promise<ReplacedAvatar> {
    for (;;) {
      const { avatarUrl: replaced } = await this.getById(id, { avatarUrl: true });
      const change = { where: { id, avatarUrl: replaced }, data: { avatarUrl }, select };
      const [user] = await this.orm.user.updateManyAndReturn(change);
      if (user) return { user, replaced };
    }
  }

  /** Deletes a user with its profile and tokens, and gives the avatar that it had. */
  async remove(id: string): Promise<string | null> {
    const { avatarUrl } = await this.orm.user.delete({ where: { id }, select: { avatarUrl: true } });
    return avatarUrl;
  }
}
