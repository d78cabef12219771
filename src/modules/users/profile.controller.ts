import { ResourceController } from 'slipway';
import type { ProfileService } from './profile.service.ts';
import { createProfile, profile, profileList, updateProfile } from './user.schema.ts';

/** The routes of profiles. */
export class ProfileController extends ResourceController<ProfileService> {
  readonly schemas = { record: profile, create: createProfile, update: updateProfile, list: profileList };
}
