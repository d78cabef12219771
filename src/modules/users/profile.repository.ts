import { Repository } from '../../chassis/index.ts';

/** The stored profiles. */
export class ProfileRepository extends Repository<'profile'> {
  protected readonly model = 'profile';
}
