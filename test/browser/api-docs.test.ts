import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const executablePath = '/usr/bin/chromium';
const isInstalled = existsSync(executablePath);
const reason = isInstalled ? '' : ` (skipped: no browser at ${executablePath}; apt-get install chromium)`;

const quiet = ['background-networking', 'component-update', 'sync'].map((feature) => `--disable-${feature}`);
const flags = ['--no-sandbox', '--no-first-run', '--disable-gpu', '--disable-quic', ...quiet];

const url = isInstalled ? (await bootTestApp()).url : '';

describe.skipIf(!isInstalled)(`the page at /api-docs in a browser${reason}`, { timeout: 60_000 }, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: flags });
  });

  afterAll(() => browser?.close());

  /** Opens the page and collects what the browser complains about, such as violations of the security policy. */
  async function open(): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
    page.on(
      'request',
      (request) =>
        !/^(data:|blob:)/.test(request.url()) &&
        !request.url().startsWith(url) &&
        complaints.push(`foreign: ${request.url()}`),
    );
    await page.goto(`${url}/api-docs`);
    await page.locator('.opblock').first().waitFor();
    return { page, complaints };
  }

  it('shows every operation under the default security headers, and the browser complains about nothing', async () => {
    const { page, complaints } = await open();
    const document = (await (await fetch(`${url}/api-docs.json`)).json()) as { paths: Record<string, object> };
    const operations = Object.values(document.paths).flatMap((item) => Object.keys(item));
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    expect(complaints).toEqual([]);
  });

  it('keeps a token when the page is loaded again', async () => {
    const { page, complaints } = await open();
    const authorize = page.locator('.auth-wrapper .btn.authorize').first();
    await authorize.click();
    await page.locator('.auth-container input').fill('a.token.of.nobody');
    await page.locator('.auth-container').getByRole('button', { name: 'Apply credentials' }).click();
    await page.reload();
    await page.locator('.auth-wrapper .btn.authorize.locked').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('begins with the steps from the login to the first filtered list, and keeps schemas closed', async () => {
    const { page } = await open();
    const steps = await page.locator('.info .description li').allInnerTexts();
    expect(steps[0]).toContain('POST /auth/login');
    expect(steps.at(-1)).toMatch(/GET \S+\/paginated.*where/);
    expect(await page.locator('.models.is-open').count()).toBe(0);
  });

  it('executes a request with the examples that it offers and shows what the service answers', async () => {
    const { page, complaints } = await open();
    const operation = page.locator('[id$="-searchProducts"]');
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answer = operation.locator('.live-responses-table');
    await answer.waitFor();
    expect(await answer.locator('.response-col_status').last().innerText()).toMatch(/^200/);
    const body = JSON.parse(await answer.locator('pre code, pre.microlight').first().innerText());
    expect(body).toMatchObject({ success: true, page: 1, pageSize: 10, total: expect.any(Number) });
    expect(body.data.length).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });
});
