import { existsSync } from 'node:fs';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootTestApp } from '../modules/support/boot-test-app.ts';
import { act, openOrderShop } from '../modules/support/order-shop.ts';

const executablePath = '/usr/bin/chromium';
const isInstalled = existsSync(executablePath);
const reason = isInstalled ? '' : ` (skipped: no browser at ${executablePath}; apt-get install chromium)`;

const quiet = ['background-networking', 'component-update', 'sync'].map((feature) => `--disable-${feature}`);
const flags = ['--no-sandbox', '--no-first-run', '--disable-gpu', '--disable-quic', ...quiet];

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const picture = { name: 'avatar.png', mimeType: 'image/png', buffer: Buffer.from(png, 'base64') };

const url = isInstalled ? (await bootTestApp()).url : '';

describe.skipIf(!isInstalled)(`the page at /api-docs in a browser${reason}`, { timeout: 60_000 }, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: flags });
  });

  afterAll(() => browser?.close());

  /** Opens the page and collects what the browser complains about, such as violations of the security policy. */
  async function open(url: string): Promise<{ page: Page; complaints: string[] }> {
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
    const { page, complaints } = await open(url);
    const document = (await (await fetch(`${url}/api-docs.json`)).json()) as { paths: Record<string, object> };
    const operations = Object.values(document.paths).flatMap((item) => Object.keys(item));
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    expect(complaints).toEqual([]);
  });

  /** Gives the page a token. */
  async function authorize(page: Page, token: string): Promise<void> {
    await page.locator('.auth-wrapper .btn.authorize').first().click();
    await page.getByLabel('auth-bearer-value').fill(token);
    await page.locator('.auth-container').getByRole('button', { name: 'Apply credentials' }).first().click();
    await page.locator('.auth-btn-wrapper .btn-done').first().click();
  }

  /**
   * Sends what an operation offers as it is, and closes it again. The status, with the answer where it failed. Events in
   * place of clicks of a mouse, which would scroll the long page for each, take half the time.
   */
  async function send(operation: Locator): Promise<string> {
    await operation.locator('.opblock-summary-control').dispatchEvent('click');
    await operation.locator('.try-out__btn').dispatchEvent('click');
    const file = operation.locator('input[type=file]');
    if ((await file.count()) > 0) await file.setInputFiles(picture);
    await operation.locator('.btn.execute').dispatchEvent('click');
    const answer = operation.locator('.live-responses-table');
    // An operation that lacks a required value is not sent.
    await answer.or(operation.locator('input.invalid, textarea.invalid')).first().waitFor();
    if ((await answer.count()) === 0) return 'not sent';
    const status = (await answer.locator('.response-col_status').last().innerText()).slice(0, 3);
    const text = /^2/.test(status) ? '' : await answer.innerText();
    await operation.locator('.opblock-summary-control').dispatchEvent('click');
    return `${status} ${text}`;
  }

  it('keeps a token when the page is loaded again', async () => {
    const { page, complaints } = await open(url);
    const authorize = page.locator('.auth-wrapper .btn.authorize').first();
    await authorize.click();
    await page.getByLabel('auth-bearer-value').fill('a.token.of.nobody');
    await page.locator('.auth-container').getByRole('button', { name: 'Apply credentials' }).first().click();
    await page.reload();
    await page.locator('.auth-wrapper .btn.authorize.locked').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('begins with the steps from the login to the first filtered list, and keeps schemas closed', async () => {
    const { page } = await open(url);
    const steps = await page.locator('.info .description li').allInnerTexts();
    expect(steps[0]).toContain('POST /auth/login');
    expect(steps.at(-1)).toMatch(/GET \S+\/paginated.*where/);
    expect(await page.locator('.models.is-open').count()).toBe(0);
  });

  it('fits every list with its filter, down to the button that sends it, on a screen of 1440 by 900', {
    timeout: 120_000,
  }, async () => {
    const { page } = await open(url);
    await page.setViewportSize({ width: 1440, height: 900 });
    const lists = page.locator('.opblock', { has: page.locator('[data-path$="/paginated"]') });
    expect(await lists.count()).toBeGreaterThan(3);
    const tooHigh: string[] = [];
    for (const list of await lists.all()) {
      await list.locator('.opblock-summary-control').dispatchEvent('click');
      await list.locator('.try-out__btn').dispatchEvent('click');
      const [top, button] = [await list.boundingBox(), await list.locator('.btn.execute').boundingBox()];
      const height = (button?.y ?? Number.NaN) + (button?.height ?? Number.NaN) - (top?.y ?? Number.NaN);
      if (!(height <= 900)) tooHigh.push(`${await list.getAttribute('id')}: ${height}`);
      await list.locator('.opblock-summary-control').dispatchEvent('click');
    }
    expect(tooHigh).toEqual([]);
  });

  it('executes a request with the examples that it offers and shows what the service answers', async () => {
    const { page, complaints } = await open(url);
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

  it('sends every example of a service with sample data, one after the other, and each succeeds', {
    timeout: 400_000,
  }, async () => {
    const { app: sample } = await openOrderShop({ NODE_ENV: 'development', DATABASE_SEED: 'small' });
    const password = 'slipway-demo-password';
    const admin = sample.as('admin');
    await admin.post('/auth/reauthenticate', { password });
    // What examples need that goes away by itself: an order is placed and paid, and another one waits for its payment.
    const drafts = await admin.get('/api/v1/orders', { where: { status: 'draft' } }).expectData();
    const [{ id: paid }, { id: unpaid }] = drafts;
    for (const [id, what] of [
      [paid, 'place'],
      [paid, 'pay'],
      [unpaid, 'place'],
    ])
      await act(admin, what, id).expectData();
    // A second time only what can succeed once is of interest: what was created or deleted before.
    const rounds = { first: /./, second: /^(register|create|delete)/ };
    for (const [time, sent] of Object.entries(rounds)) {
      const { accessToken } = await sample
        .post('/auth/login', { email: 'admin@example.com', password })
        .expectData(200);
      const { page } = await open(sample.url);
      const operations = await page.locator('.opblock').count();
      await authorize(page, accessToken);
      const without = await operationsWithoutExample(sample.url);
      const answers: string[] = [];
      for (const tag of await closeTags(page)) {
        await toggle(tag);
        for (const operation of await page.locator('.opblock').all()) {
          const id = (await operation.getAttribute('id'))?.split('-').at(-1) ?? '';
          if (sent.test(id) && !without.includes(id)) answers.push(`${id}: ${await send(operation)}`);
        }
        await toggle(tag);
      }
      expect([time, answers.filter((answer) => !/: 2/.test(answer))]).toEqual([time, []]);
      expect(without.toSorted()).toEqual(['changePassword', 'endSession', 'refresh', 'revokeApiKey', 'settlePayment']);
      if (time === 'first') expect(answers.length + without.length).toBe(operations);
      else expect(answers.length).toBeGreaterThan(0);
      await page.close();
    }
  });
});

/** Opens or closes what the page shows of a tag. */
async function toggle(tag: Locator): Promise<void> {
  const isOpen = (await tag.getAttribute('data-is-open')) === 'true';
  await tag.dispatchEvent('click');
  await tag.and(tag.page().locator(`[data-is-open=${!isOpen}]`)).waitFor();
}

/** All tags, closed: the page renders all that is open of it at each step, which with every tag open takes half as long again. */
async function closeTags(page: Page): Promise<Locator[]> {
  const tags = await page.locator('.opblock-tag').all();
  for (const tag of tags) await toggle(tag);
  return tags;
}

/** Ids of the operations whose description says why no example of them can be sent as it is. */
async function operationsWithoutExample(url: string): Promise<string[]> {
  const document = (await (await fetch(`${url}/api-docs.json`)).json()) as {
    paths: Record<string, Record<string, Record<string, string>>>;
  };
  return Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .filter((operation) => operation['x-no-example'] && operation['description']?.includes(operation['x-no-example']))
    .map((operation) => operation['operationId'] ?? '');
}
