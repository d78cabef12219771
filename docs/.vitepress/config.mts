import { cpSync, globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
// biome-ignore lint/style/noProcessEnv: a build of its own, not the service
const { GITHUB_REPOSITORY: repository = 'slipway/slipway', DOCS_BASE: base = '/' } = process.env;
const source = `https://github.com/${repository}/blob/main/`;

/** The documents of the site, which are those that people read in the repository. */
const documents =
  /^(README|CONTRIBUTING|CHANGELOG|SECURITY|docs\/.*|helm\/slipway\/README|load-tests\/README|load-tests\/peers\/README|test\/hostile\/README)\.md$/;

/** The site is built of a copy of them: Vue has to be found above each page, and only here it is. */
const copy = join(here, 'pages');
rmSync(copy, { recursive: true, force: true });
for (const file of globSync('{*.md,docs/**/*.{md,svg},helm/slipway/*.md,load-tests/**/*.md,test/hostile/*.md}', {
  cwd: root,
  exclude: ['**/node_modules/**', 'docs/.vitepress/**'],
})) {
  if (documents.test(file) || file.endsWith('.svg')) cpSync(join(root, file), join(copy, file));
}

/** Leads to a page of the site, or to the file in the repository where the site has no such page. */
function resolve(href: string, from: string): string {
  if (/^(https?:|mailto:|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = posix.normalize(posix.join(posix.dirname(from), path));
  if (documents.test(target)) return href;
  return source + target + (anchor === undefined ? '' : `#${anchor}`);
}

interface Entry {
  text: string;
  link: string;
}

/** The pages of one kind, in the order and by the names of docs/README.md. */
function pages(heading: string): Entry[] {
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8');
  const [, section = ''] = new RegExp(`^## ${heading}\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(index) ?? [];
  return [...section.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, text = '', page = '']) => ({
    text: text.charAt(0).toUpperCase() + text.slice(1),
    link: `/${posix.normalize(`docs/${page}`).replace(/\.md$/, '')}`,
  }));
}

/** The decisions, by number and heading. */
function decisions(): Entry[] {
  return globSync('docs/decisions/*.md', { cwd: root })
    .toSorted()
    .map((file) => ({
      text: /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8'))?.[1] ?? file,
      link: `/${file.replace(/\.md$/, '')}`,
    }));
}

/** Pages that name every word there is, and so would stand above those that say what to do. */
const notSearched = ['CHANGELOG.md', 'docs/reference/spec.md'];

export default defineConfig({
  title: 'Slipway',
  description: 'A service chassis for HTTP JSON back ends on Node and Kubernetes',
  base,
  srcDir: '.vitepress/pages',
  outDir: '.vitepress/dist',
  cacheDir: '.vitepress/cache',
  rewrites: { 'README.md': 'index.md', 'docs/README.md': 'docs/index.md' },
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  // Vue would take out a line break between bold text and a link, and with it the space that readers see.
  vue: { template: { compilerOptions: { whitespace: 'preserve' } } },
  // The index of the search is one file, which is loaded when somebody searches.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  markdown: {
    // Documents hold no HTML but comments for tests; `<name>` in a text means itself.
    html: false,
    config(md) {
      md.core.ruler.after('normalize', 'comments', (state) => {
        state.src = state.src.replaceAll(/^<!--[\s\S]*?-->\n/gm, '');
      });
      md.core.ruler.push('links', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null;
          if (href !== null)
            token.attrSet('href', resolve(href, env.relativePath === 'index.md' ? 'README.md' : env.relativePath));
        }
      });
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        _render: (text, env, md) => (notSearched.includes(env.relativePath) ? '' : md.render(text, env)),
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/docs/tutorial/first-service' },
      { text: 'Documentation', link: '/docs/' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
    sidebar: [
      ...['Tutorial', 'How-to', 'Reference', 'Explanation'].map((text) => ({
        text,
        collapsed: false,
        items: pages(text),
      })),
      { text: 'Decisions', collapsed: true, items: decisions() },
    ],
    socialLinks: [{ icon: 'github', link: `https://github.com/${repository}` }],
    editLink: { pattern: `https://github.com/${repository}/edit/main/:path` },
  },
});
