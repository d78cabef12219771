import { runService } from 'slipway/run';

await runService(() => import('./app.config.ts'));
