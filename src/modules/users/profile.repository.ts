import { Repository } from 'slipway';

/** The stored profiles. */
export class ProfileRepository extends Repository<'profile'> {
  protected readonly model = 'profile';
}
