import { appConfig } from './app.config.ts';
import { closeOnSignal, exitAfter, guardProcess } from './chassis/lifecycle/process-guards.ts';
import { startService } from './chassis/start.ts';

guardProcess();
try {
  closeOnSignal(await startService(appConfig()));
} catch (error) {
  exitAfter(error, 'start failed');
}
