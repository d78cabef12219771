/** Loaded before a peer: server spans, sampled and exported as those of Slipway. Settings come from OTEL_*. */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';

new NodeSDK({ instrumentations: [new HttpInstrumentation()] }).start();
// The instrumentation patches the module when it is first required; imports must see that too.
createRequire(import.meta.url)('node:http');
syncBuiltinESMExports();
