import { z } from 'zod';
import { paginationSchemaFor } from './paging.ts';

/** The four schemas that check query parameters; each can be replaced (spec.md: QuerySchemas). */
export interface QuerySchemas {
  includeSchema: z.ZodType;
  orderBySchema: z.ZodType;
  whereSchema: z.ZodType;
  paginationSchema: z.ZodType;
}

/** Any map of relation names; permissive, so a list policy is the better choice for what strangers send. */
export const includeSchema = z.record(z.string(), z.any()).optional();

/** Any map of field names to 'asc' or 'desc'. */
export const orderBySchema = z.record(z.string(), z.enum(['asc', 'desc'])).optional();

/** Any map of conditions; permissive, so a list policy is the better choice for what strangers send. */
export const whereSchema = z.record(z.string(), z.any()).optional();

/** `page` a positive integer, `pageSize` a positive integer of at most 100, nothing else (spec.md: Limits). */
export const paginationSchema = paginationSchemaFor({ pageSize: 100 });

/** The schemas that hold when none are given. */
export const defaultQuerySchemas = Object.freeze({ includeSchema, orderBySchema, whereSchema, paginationSchema });
