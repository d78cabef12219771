import { Repository } from 'slipway';
import type { Account } from './auth.schema.ts';
import type { Role } from './auth.types.ts';

/** What authentication needs of a user. */
export interface Credentials {
  id: string;
  email: string;
  name: string;
  role: Role;
  organizationId: string | null;
  passwordHash: string;
}

const credentials = { id: true, email: true, name: true, role: true, organizationId: true, passwordHash: true };

/** How long a unit waits for an account that another one has locked, in milliseconds: it holds a connection meanwhile. */
const lockTimeout = '1000';

/** Users as authentication sees them; the only code that reads password hashes. */
export class AccountRepository extends Repository<'user'> {
  protected readonly model = 'user';

  /** Stores a new user with the role `user`. @throws ConflictException when the address is taken */
  async register(user: { email: string; name: string; passwordHash: string }): Promise<Account> {
    const select = { id: true, email: true, name: true, role: true };
    return (await this.create({ ...user, role: 'user' }, select)) as Account;
  }

  /** The credentials of the user with this address, or null. */
  async findCredentials(email: string): Promise<Credentials | null> {
    return (await this.orm.user.findUnique({ where: { email }, select: credentials })) as Credentials | null;
  }

  /** The credentials of the user with this identifier, or null. */
  async findCredentialsById(id: string): Promise<Credentials | null> {
    return (await this.orm.user.findUnique({ where: { id }, select: credentials })) as Credentials | null;
  }

  /**
   * Locks one account, or two, against other units of work that lock them, until the unit ends, and gives what is stored
   * now. The unit must be `read-committed`: a stronger one would not see what it waited for. Two are locked in one order,
   * so that units never wait for each other. A unit of SQLite has the file to itself.
   *
   * @throws DatabaseUnavailableException when another unit has held the lock for a second
   */
  async lock(id: string, other = id): Promise<ReadonlyMap<string, Credentials>> {
    if (this.provider === 'postgresql') {
      await this.orm.$queryRaw`SELECT set_config('lock_timeout', ${lockTimeout}, true)`;
      await this.orm
        .$queryRaw`SELECT "id" FROM "users" WHERE "id" IN (${id}, ${other}) ORDER BY "id" FOR NO KEY UPDATE`;
    }
    const found = await this.orm.user.findMany({ where: { id: { in: [id, other] } }, select: credentials });
    return new Map(found.map((account) => [account.id, account as Credentials]));
  }

  /** Stores the hash of a new password. */
  async setPasswordHash(id: string, passwordHash: string): Promise<void> {
    await this.orm.user.update({ where: { id }, data: { passwordHash }, select: { id: true } });
  }
}
