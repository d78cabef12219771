/** What the peers of the table share: the database by the ORM, the check of a list's parameters, and what to answer. */
import process from 'node:process';
import { Histogram } from 'prom-client';
import { z } from 'zod';

const prisma = await openDatabase(process.env.DATABASE_URL);
const histogram = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Duration of requests',
  labelNames: ['method', 'route', 'status'],
});

async function openDatabase(url) {
  if (url.startsWith('file:')) {
    const { PrismaLibSql } = await import('@prisma/adapter-libsql');
    const { PrismaClient } = await import('../../../dist-peers/generated/sqlite/client.js');
    return new PrismaClient({ adapter: new PrismaLibSql({ url }) });
  }
  const { PrismaPg } = await import('@prisma/adapter-pg');
  const { PrismaClient } = await import('../../../dist-peers/generated/postgresql/client.js');
  return new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 10 }) });
}

const json = (schema) =>
  z
    .string()
    .max(10_000)
    .transform((text, context) => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: 'custom', message: 'Expected JSON' });
        return z.NEVER;
      }
    })
    .pipe(schema);
const listQuery = z.strictObject({
  page: z.coerce.number().int().min(1).default(1),
  pageSize: z.coerce.number().int().min(1).max(100).default(10),
  where: json(
    z.strictObject({
      price: z.strictObject({ gte: z.number().int() }).optional(),
      categoryId: z.strictObject({ equals: z.uuid() }).optional(),
      createdAt: z.strictObject({ gte: z.iso.datetime() }).optional(),
    }),
  ).optional(),
  orderBy: json(z.strictObject({ createdAt: z.enum(['asc', 'desc']) })).optional(),
  include: json(z.strictObject({ category: z.literal(true) })).optional(),
});

/** What a small route answers. */
export const index = {
  success: true,
  data: { name: 'peer', version: '1.0.0', description: '', links: { liveness: '/livez', readiness: '/readyz' } },
};

/** Raised for what a client got wrong. */
export class Refusal extends Error {
  constructor(status, message, details) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

/** The body of a failure. */
export function failure({ status, message, details }) {
  return {
    success: false,
    message,
    statusCode: status,
    timestamp: new Date().toISOString(),
    ...(details && { details }),
  };
}

/** One page of products and the number of all that match. */
export async function page(query) {
  const parsed = listQuery.safeParse(query);
  if (!parsed.success) throw new Refusal(400, 'Invalid request data', { issues: parsed.error.issues });
  const { page: number, pageSize, where, orderBy, include } = parsed.data;
  const [data, total] = await Promise.all([
    prisma.product.findMany({ where, orderBy, include, skip: (number - 1) * pageSize, take: pageSize }),
    prisma.product.count({ where }),
  ]);
  return { success: true, data, page: number, pageSize, total };
}

/** One product. */
export async function one(id) {
  if (!z.uuid().safeParse(id).success) throw new Refusal(404, 'Product not found');
  const data = await prisma.product.findUnique({ where: { id } });
  if (!data) throw new Refusal(404, 'Product not found');
  return { success: true, data };
}

/** Counts a request for Prometheus. */
export function count(method, route, status, seconds) {
  histogram.observe({ method, route: route ?? 'unmatched', status }, seconds);
}
