/** The accept header of Prometheus, as far as it asks for exemplars. */
export const openMetrics = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';

/** The value of each series by its name and labels as they are printed. */
export function seriesOf(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const [, series = '', value] = /^(\w+(?:\{.*?\})?) (\S+)/.exec(line) ?? [];
      return [series, Number(value)];
    }),
  );
}
