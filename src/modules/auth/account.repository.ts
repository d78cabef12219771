import { Repository } from '../../chassis/index.ts';
import type { Account } from './auth.schema.ts';
import type { Role } from './auth.types.ts';

/** What login needs of a user. */
export interface Credentials {
  id: string;
  role: Role;
  passwordHash: string;
}

/** Users as authentication sees them; the only code that reads password hashes. */
export class AccountRepository extends Repository<'user'> {
  protected readonly model = 'user';

  /** Stores a new user with the role `user`. Raises ConflictException when the address is taken. */
  async register(user: { email: string; name: string; passwordHash: string }): Promise<Account> {
    const select = { id: true, email: true, name: true, role: true };
    return (await this.create({ ...user, role: 'user' }, select)) as Account;
  }

  /** The credentials of the user with this address, or null. */
  async findCredentials(email: string): Promise<Credentials | null> {
    const select = { id: true, role: true, passwordHash: true };
    return (await this.orm.user.findUnique({ where: { email }, select })) as Credentials | null;
  }
}
