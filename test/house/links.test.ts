import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents } from './code-blocks.ts';
import { hasSample, read, root } from './repository.ts';

interface Link {
  file: string;
  /** As it is written. */
  target: string;
}

/** The links and pictures of a document, without those in code. */
function linksOf(file: string): Link[] {
  const prose = read(file)
    .replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, 'code');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ file, target }));
}

/** The anchors of a document, as GitHub and the site make them of its headings. */
function anchorsOf(file: string): Set<string> {
  const headings = read(file)
    .replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '')
    .matchAll(/^#+ (.+)$/gm);
  const anchors = new Set<string>();
  for (const [, heading = ''] of headings) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    anchors.add(anchor);
  }
  return anchors;
}

const links = documents.flatMap(linksOf);
const internal = links.filter(({ target }) => !/^(https?:|mailto:)/.test(target));

/** The path of what a link leads to, from the root of the repository. */
function pathOf({ file, target }: Link): string {
  const [path = ''] = target.split('#');
  return path === '' ? file : normalize(join(dirname(file), path));
}

describe('links of documents', () => {
  it.skipIf(!hasSample)('lead to files that exist', () => {
    expect(internal.length).toBeGreaterThan(100);
    const broken = internal.filter((link) => !existsSync(join(root, pathOf(link))));
    expect(broken).toEqual([]);
  });

  it('lead to headings that exist', () => {
    const broken = internal.filter((link) => {
      const [, anchor] = link.target.split('#');
      return anchor !== undefined && pathOf(link).endsWith('.md') && !anchorsOf(pathOf(link)).has(anchor);
    });
    expect(broken).toEqual([]);
  });
});

// Asks the addresses of others, so only where somebody wants that: TEST_EXTERNAL_LINKS=true npm test -- test/house/links
describe.runIf(process.env['TEST_EXTERNAL_LINKS'])('addresses of others', () => {
  const addresses = [...new Set(links.map(({ target }) => target))].filter(
    (target) => target.startsWith('https://') && !/example\.com|github\.com\/slipway\//.test(target),
  );

  it.each(addresses)('%s answers', { retry: 2, timeout: 60_000 }, async (address) => {
    const { status } = await fetch(address, {
      headers: { 'user-agent': 'Mozilla/5.0' },
      signal: AbortSignal.timeout(20_000),
    });
    // Some refuse programs; what is gone says so.
    expect([404, 410]).not.toContain(status);
  });
});
