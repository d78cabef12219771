/** One line of a chart. */
export interface Line {
  readonly name: string;
  readonly colour: string;
  /** Seconds and values, from the left to the right. */
  readonly points: readonly (readonly [at: number, value: number])[];
}

const [width, height, left, bottom, top] = [640, 180, 56, 24, 10];

/** A chart as SVG: lines over time, from 0 to the highest value, with a legend. */
export function chart(title: string, unit: string, lines: readonly Line[]): string {
  const points = lines.flatMap(({ points }) => points);
  const highest = niceCeiling(Math.max(1, ...points.map(([, value]) => value)));
  const last = Math.max(1, ...points.map(([at]) => at));
  const x = (at: number) => left + ((width - left - 8) * at) / last;
  const y = (value: number) => height - bottom - ((height - bottom - top) * value) / highest;
  const ticks = [0, 0.5, 1].map((share) => {
    const value = share * highest;
    return `<line x1="${left}" x2="${width - 8}" y1="${y(value)}" y2="${y(value)}" class="grid"/><text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${label(value)}</text>`;
  });
  const seconds = [0, 0.5, 1].map(
    (share) =>
      `<text x="${x(share * last)}" y="${height - 6}" text-anchor="${share === 1 ? 'end' : 'middle'}">${Math.round(share * last)} s</text>`,
  );
  const drawn = lines.map(
    ({ name, colour, points }) =>
      `<polyline fill="none" stroke="${colour}" stroke-width="1.8" points="${points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ')}"><title>${name}</title></polyline>`,
  );
  const legend = lines.map(({ name, colour }) => `<span><i style="background:${colour}"></i>${name}</span>`).join('');
  const picture = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">${[...ticks, ...seconds, ...drawn].join('')}</svg>`;
  return `<figure><figcaption><b>${title}</b> <small>${unit}</small> ${legend}</figcaption>${picture}</figure>`;
}

/** The next number of the form 1, 2 or 5 times a power of ten. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10) * power;
}

function label(value: number): string {
  return value >= 10 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}
