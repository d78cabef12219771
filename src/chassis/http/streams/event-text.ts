/** One event of a stream (WHATWG HTML, Server-sent events). */
export interface ServerEvent {
  /** Sent as JSON, unless it is a text. */
  data: unknown;
  /** What the client hears it by; `message` by default. */
  event?: string;
  /** Comes back as `Last-Event-ID` when the client connects again. */
  id?: string;
}

/** An event as it is sent. A line break would end a field, and what follows would be another: each line of data is a field. */
export function eventText({ data, event, id }: ServerEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const head = `${event === undefined ? '' : `event: ${oneLine(event)}\n`}${id === undefined ? '' : `id: ${oneLine(id)}\n`}`;
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${head}${lines.join('')}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, ' ');
}
