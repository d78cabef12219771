import { describe, expect, it } from 'vitest';
import { Histogram, SeriesLimit } from '../../../../src/chassis/telemetry/metrics/metric-family.ts';

function histogram(limit = 10) {
  const series = new SeriesLimit(limit);
  return {
    histogram: new Histogram({ name: 'wait_seconds', help: 'Wait.', labels: ['queue'], buckets: [1, 2] }, series),
    series,
  };
}

describe('Histogram', () => {
  it('counts a value in its bucket and in all above, and adds it up', () => {
    const { histogram: waits } = histogram();
    for (const value of [0.5, 1, 1.5, 7]) waits.series.of('a')?.observe(value);
    expect(waits.samples().map(({ suffix, labels, value }) => `${suffix}{${labels}} ${value}`)).toEqual([
      '_bucket{queue="a",le="1"} 2',
      '_bucket{queue="a",le="2"} 3',
      '_bucket{queue="a",le="+Inf"} 4',
      '_sum{queue="a"} 10',
      '_count{queue="a"} 4',
    ]);
  });

  it('keeps the last trace of each bucket as its exemplar, and none where no trace came', () => {
    const { histogram: waits } = histogram();
    const series = waits.series.of('a');
    series?.observe(0.5, 'first');
    series?.observe(0.6, 'last');
    series?.observe(1.5);
    series?.observe(7, 'slow');
    const exemplars = waits.samples().map(({ exemplar }) => exemplar && [exemplar.traceId, exemplar.value]);
    expect(exemplars).toEqual([['last', 0.6], undefined, ['slow', 7], undefined, undefined]);
    expect(waits.samples()[0]?.exemplar?.time).toBeCloseTo(Date.now() / 1000, -1);
  });

  it('leaves out what is not a number, which would be its sum for ever', () => {
    const { histogram: waits } = histogram();
    waits.series.of('a')?.observe(Number.NaN);
    waits.series.of('a')?.observe(1);
    expect(waits.samples().at(-2)?.value).toBe(1);
  });

  it('keeps no more label combinations than the limit, and says how many observations it left out', () => {
    const { histogram: waits, series } = histogram(2);
    for (const queue of ['a', 'b', 'c', 'd', 'a', 'c']) waits.series.of(queue)?.observe(1);
    expect(
      waits
        .samples()
        .filter(({ suffix }) => suffix === '_count')
        .map(({ labels }) => labels),
    ).toEqual(['queue="a"', 'queue="b"']);
    expect(series.family.samples()).toEqual([{ labels: 'metric="wait_seconds"', value: 3 }]);
  });
});
