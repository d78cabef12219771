/** Bare Express 5 that opens the database before it listens, as a service with one does. */
import process from 'node:process';
import { PrismaLibSql } from '@prisma/adapter-libsql';
import express from 'express';
import { PrismaClient } from '../../../dist-peers/generated/sqlite/client.js';

const client = new PrismaClient({ adapter: new PrismaLibSql({ url: process.env.DATABASE_URL ?? '' }) });
await client.$queryRaw`SELECT 1`;
const app = express();
app.get('/ping', (_request, response) => {
  response.json({ success: true, data: { status: 'ok' } });
});
app.listen(Number(process.env.PORT), '127.0.0.1');
