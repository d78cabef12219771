import { z } from 'zod';
import { flag, isPeerUrl, wholeNumber } from './setting-types.ts';

/** Where uploaded files are, and how much they may take. */
export const uploadSettings = {
  LOCAL_UPLOAD_DIR: z
    .string()
    .default('./uploads')
    .describe('Directory of uploaded files, served at /uploads; with UPLOAD_S3_BUCKET, where files come in'),
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
  UPLOAD_S3_BUCKET: z
    .string()
    .regex(/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/, 'expected the name of a bucket: 3 to 63 small letters, digits, - and .')
    .optional()
    .describe('Bucket of S3 that holds uploaded files in the place of LOCAL_UPLOAD_DIR; asks for @aws-sdk/client-s3'),
  UPLOAD_S3_PREFIX: z
    .string()
    .regex(/^(?:[\w.-]+\/)*$/, 'expected folders that end with /, such as shop/files/')
    .default('')
    .describe('What the keys of all files begin with: `shop/`'),
  UPLOAD_S3_REGION: z
    .string()
    .regex(/^[\w-]+$/, 'expected a region such as eu-central-1')
    .optional()
    .describe('Region of the bucket; without it that of the environment, AWS_REGION'),
  UPLOAD_S3_ENDPOINT: z
    .string()
    .refine(isPeerUrl, 'expected an http:// or https:// URL without user, password and parameters')
    .optional()
    .describe('URL of a server that is not Amazon’s, such as MinIO'),
  UPLOAD_S3_PATH_STYLE: flag(false).describe(
    'Name the bucket in the path and not in the host, as most such servers need',
  ),
  UPLOAD_S3_ACCESS_KEY_ID: z
    .string()
    .min(1)
    .optional()
    .describe('Access key; without it the credentials of the environment, such as the web identity of a pod'),
  UPLOAD_S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('Its secret').meta({ secret: true }),
  UPLOAD_S3_TIMEOUT_MS: wholeNumber(1, 600_000, 4_000).describe(
    'How long S3 may take until it answers, and until the next bytes of a file, in milliseconds',
  ),
};
