import { defineJobs, every } from 'slipway';

export default defineJobs(({ sessionService }) => [
  every('1h', 'remove-old-sessions', ({ signal }) => sessionService.removeOld(signal)),
]);
