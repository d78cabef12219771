/** Puts a service under load: `npm run load -- help` says how. */
import process from 'node:process';
import { loadCommand } from './run/load-command.ts';

await loadCommand(process.argv.slice(2));
