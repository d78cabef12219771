import { runService } from 'slipway/run';

void runService(() => import('./app.config.ts'));
