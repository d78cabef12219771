import { z } from 'zod';
import { wholeNumber } from './setting-types.ts';

/** Where uploaded files are, and how much they may take. */
export const uploadSettings = {
  LOCAL_UPLOAD_DIR: z.string().default('./uploads').describe('Directory of uploaded files, served at /uploads'),
  UPLOAD_MAX_BYTES: wholeNumber(1, 1_000_000_000, 2_097_152).describe('Largest uploaded file, in bytes'),
  UPLOADS_PER_MINUTE: wholeNumber(1, 1_000_000, 30).describe('Uploads per user and minute'),
  UPLOAD_USER_BYTES: wholeNumber(1, 100_000_000_000_000, 20_971_520).describe(
    'Size of the files of one user together, in bytes',
  ),
  UPLOAD_TOTAL_BYTES: wholeNumber(1, 100_000_000_000_000, 10_737_418_240).describe(
    'Size of all uploaded files together, in bytes',
  ),
  UPLOAD_MIN_FREE_BYTES: wholeNumber(0, 100_000_000_000_000, 104_857_600).describe(
    'Free space that uploads leave on their disk, in bytes',
  ),
};
