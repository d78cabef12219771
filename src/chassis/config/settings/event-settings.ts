import { z } from 'zod';

/** Where domain events are published. */
export const eventSettings = {
  EVENTS_NATS_URL: z
    .string()
    .refine(areNatsUrls, 'expected URLs such as nats://user:password@nats:4222 or tls://…, by commas')
    .optional()
    .describe('NATS servers whose JetStream gets the domain events as CloudEvents; without it they stay in the service')
    .meta({ secret: true }),
  EVENTS_NATS_SUBJECT: z
    .string()
    .regex(/^[\w-]+(\.[\w-]+)*$/, 'expected names joined by dots, such as events or shop.events')
    .default('events')
    .describe('What stands before the name of an event in its subject: `events.order.placed`'),
  EVENTS_NATS_STREAM: z
    .string()
    .regex(/^[\w-]+$/, 'expected letters, digits, _ and -')
    .optional()
    .describe('Stream that is made for all subjects of EVENTS_NATS_SUBJECT where there is none of this name'),
};

function areNatsUrls(text: string): boolean {
  return text.split(',').every((url) => URL.canParse(url.trim()) && /^(nats|tls):\/\/[^/]/.test(url.trim()));
}
