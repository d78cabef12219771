/** Runs in each test file before everything else of it, so that its hooks are around all others. */
import { afterAll, beforeAll } from 'vitest';
import { beginHooks, endHooks } from './when-done.ts';

beforeAll(beginHooks);
afterAll(endHooks);
