import process from 'node:process';

process.on('SIGTERM', () => process.exit(0));
