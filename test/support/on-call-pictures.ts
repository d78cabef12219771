import { join } from 'node:path';
import type { ExportedSpan } from '../../src/chassis/testing/fake-collector.ts';
import type { SentryEvent } from '../../src/chassis/testing/sentry-ingest.ts';
import type { LogLine } from './spawn-service.ts';

/** What one failing request left behind. */
export interface Traces {
  /** Failing routes as Prometheus has them: time in seconds and rate. */
  readonly series: { metric: Record<string, string>; values: [time: number, value: string][] }[];
  readonly event: SentryEvent;
  readonly lines: readonly LogLine[];
  readonly spans: readonly ExportedSpan[];
}

const width = 960;
const colours = ['#c4162a', '#1f60c4', '#37872d', '#8f3bb8'];

/** The pictures of docs/how-to/on-call.md by file name, drawn from what was measured. */
export function onCallPictures(traces: Traces): Record<string, string> {
  return {
    'failing-routes.svg': failingRoutes(traces.series),
    'sentry-issue.svg': sentryIssue(traces.event),
    'log-lines.svg': logLines(traces.lines),
    'trace.svg': trace(traces.spans),
  };
}

/** Traffic of some seconds to the service of test/fixtures/observed, of which more and more fails: something to draw. */
export async function failOverTime(url: string, seconds: number): Promise<void> {
  const begin = performance.now();
  for (let part = 0; part < 1; part = (performance.now() - begin) / 1000 / seconds) {
    await fetch(`${url}/api/v1/shipments`);
    if (part > 1 / 3) await fetch(`${url}/api/v1/shipments/7/label`);
    if (part > 1 / 2 && Math.random() < 0.2) await fetch(`${url}/api/v1/shipments/7/weight`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A panel as Grafana shows it: rate over time, a line for each route. */
function failingRoutes(series: Traces['series']): string {
  const points = series.flatMap(({ values }) => values);
  const times = points.map(([time]) => time);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const top = Math.max(...points.map(([, value]) => Number(value)), 0.001) * 1.15;
  const [left, right, up, down] = [60, width - 20, 66, 210];
  const x = (time: number) => (left + ((time - first) / Math.max(1, last - first)) * (right - left)).toFixed(1);
  const y = (value: number) => (down - (value / top) * (down - up)).toFixed(1);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const value = top * part;
    return `<path d="M${left} ${y(value)}H${right}" stroke="#ddd"/>${label(left - 8, Number(y(value)) + 4, value.toFixed(1), { anchor: 'end', fill: '#666' })}`;
  });
  const drawn = series.map(({ metric, values }, index) => {
    const colour = colours[index % colours.length];
    const path = values.map(([time, value]) => `${x(time)},${y(Number(value))}`).join(' ');
    const key = `<path d="M${left + index * 330} 236h16" stroke="${colour}" stroke-width="3"/>`;
    const name = label(left + 22 + index * 330, 240, `${metric['method']} ${metric['route']}`);
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${key}${name}`;
  });
  const seconds = label(right, down + 14, `${Math.round(last - first)} s`, { anchor: 'end', fill: '#666' });
  return card(260, 'Failing routes', 'Answers of 500 and above by route, per second', [...grid, ...drawn, seconds]);
}

/** The event with its title, its culprit and the lines around. */
function sentryIssue({ exception, culprit = '', tags, contexts, release, transaction }: SentryEvent): string {
  const bug = exception.values.at(-1);
  const frame = bug?.stacktrace?.frames.findLast(({ filename }) => culprit.includes(filename.split('/').at(-1) ?? ''));
  const before = (frame?.pre_context ?? []).slice(-3);
  const code = [...before, frame?.context_line ?? '', ...(frame?.post_context ?? []).slice(0, 2)];
  const firstLine = (frame?.lineno ?? 0) - before.length;
  const lines = code.map((text, index) => {
    const top = 104 + index * 20;
    const isBug = index === before.length;
    const mark = isBug ? `<rect x="20" y="${top - 14}" width="${width - 40}" height="20" fill="#fde8ea"/>` : '';
    const weight = isBug ? { weight: 'bold' } : {};
    return `${mark}${mono(28, top, String(firstLine + index), { fill: '#888' })}${mono(64, top, text, weight)}`;
  });
  const bottom = 104 + code.length * 20 + 12;
  const facts = { transaction, release, request_id: tags['request_id'], trace_id: contexts.trace.trace_id };
  const rows = Object.entries(facts).map(([name, value], index) => {
    const top = bottom + index * 20;
    return `${mono(28, top, name, { fill: '#666' })}${mono(150, top, String(value))}`;
  });
  return card(bottom + 74, `${bug?.type}: ${bug?.value}`, culprit, [...lines, ...rows]);
}

/** The lines of the request, the fields that lead on in front. */
function logLines(lines: readonly LogLine[]): string {
  const rows = lines.flatMap((line) => {
    const { level, msg, requestId, traceId, route, status } = line;
    const at = placeOf(line);
    const shown = {
      level,
      msg,
      ...(at && { at }),
      requestId,
      traceId,
      ...(route !== undefined && { route, status }),
    };
    return [
      ...Object.entries(shown).map(([name, value]) => ({ name, value: String(value), isBad: level === 'error' })),
      undefined,
    ];
  });
  const drawn = rows.map((row, index) => {
    if (!row) return '';
    const top = 88 + index * 18;
    const colour = row.isBad && row.name !== 'requestId' && row.name !== 'traceId' ? '#c4162a' : '#222';
    return `${mono(28, top, row.name, { fill: '#666' })}${mono(130, top, shorten(row.value, 98), { fill: colour })}`;
  });
  return card(
    88 + rows.length * 18 - 16,
    'Log of the request',
    `kubectl logs … | grep ${lines[0]?.['requestId']}`,
    drawn,
  );
}

/** The spans of the request below each other, as wide as they took. */
function trace(spans: readonly ExportedSpan[]): string {
  const sorted = spans.toSorted(
    (a, b) =>
      Number(a.startTimeUnixNano) - Number(b.startTimeUnixNano) ||
      Number(b.endTimeUnixNano) - Number(a.endTimeUnixNano),
  );
  const begin = Number(sorted[0]?.startTimeUnixNano ?? 0);
  const end = Math.max(...sorted.map((span) => Number(span.endTimeUnixNano)));
  const depth = (span: ExportedSpan | undefined): number => {
    const parent = sorted.find(({ spanId }) => spanId === span?.parentSpanId);
    return parent ? depth(parent) + 1 : 0;
  };
  const scale = (nanos: number) => (nanos / Math.max(1, end - begin)) * 520;
  const rows = sorted.map((span, index) => {
    const top = 92 + index * 26;
    const colour = span.status.code === 2 ? colours[0] : colours[1];
    const took = Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano);
    const from = 330 + scale(Number(span.startTimeUnixNano) - begin);
    const bar = `<rect x="${from.toFixed(1)}" y="${top - 12}" width="${Math.max(2, scale(took)).toFixed(1)}" height="16" rx="2" fill="${colour}"/>`;
    const time = label(Math.min(from + scale(took) + 6, 862), top + 1, `${(took / 1e6).toFixed(1)} ms`, {
      fill: '#444',
    });
    return `${label(28 + depth(span) * 16, top, shorten(span.name, 40))}${bar}${time}`;
  });
  const raised = sorted.flatMap(({ events }) => events).find(({ name }) => name === 'exception')?.attributes;
  const bottom = 92 + sorted.length * 26 + 4;
  const event = raised
    ? mono(28, bottom, `exception  ${raised['exception.type']}: ${raised['exception.message']}`, { fill: '#c4162a' })
    : '';
  return card(bottom + 20, 'Trace', String(sorted[0]?.traceId), [...rows, event]);
}

function card(height: number, title: string, subtitle: string, parts: readonly string[]): string {
  const frame = `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="6" fill="#fff" stroke="#ccc"/>`;
  const heading = `${label(20, 28, title, { size: 16, weight: 'bold' })}${label(20, 46, subtitle, { fill: '#666' })}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n<title>${escapeXml(title)}</title>\n${[frame, heading, ...parts].filter(Boolean).join('\n')}\n</svg>\n`;
}

interface Style {
  anchor?: string;
  fill?: string;
  size?: number;
  weight?: string;
}

function label(
  x: number,
  y: number,
  text: string,
  { anchor = 'start', fill = '#222', size = 12, weight = 'normal' }: Style = {},
): string {
  return `<text x="${x}" y="${y}" font-family="Helvetica, Arial, sans-serif" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${fill}">${escapeXml(text)}</text>`;
}

function mono(x: number, y: number, text: string, { fill = '#222', weight = 'normal' }: Style = {}): string {
  return `<text x="${x}" y="${y}" xml:space="preserve" font-family="Menlo, Consolas, monospace" font-size="12" font-weight="${weight}" fill="${fill}">${escapeXml(text)}</text>`;
}

/** The innermost frame of the error of a line, without the folder that the service runs in. */
function placeOf(line: LogLine): string {
  const { stack = '' } = (line['error'] ?? {}) as { stack?: string };
  const frame = stack.split('Caused by: ').at(-1)?.split('\n    at ')[1] ?? '';
  return frame.replace(`${join(import.meta.dirname, '../..')}/`, '');
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
