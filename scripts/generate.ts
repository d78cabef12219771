/**
 * What `npm run generate` makes, and other scripts before they run: the ORM client of each database from
 * prisma/models.prisma, in src/generated/, and in lib/ the entries by which this repository imports itself as the package
 * `slipway`. Clients that are newer than their sources stay; `--force` generates in any case.
 */
import process from 'node:process';
import { areClientsFresh, generateClients } from '../src/chassis/cli/generate-clients.ts';
import { linkPackage } from './link-package.ts';

linkPackage();
if (process.argv.includes('--force') || !areClientsFresh()) {
  try {
    generateClients();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
