import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';
import { whenDone } from '../../src/chassis/testing/when-done.ts';
import { skipped, tool } from '../chart/chart.ts';

/** Why tests of Prometheus are skipped here; empty where they run. */
export const withoutPrometheus = skipped('prometheus');

/** One series of an answer: its labels, and its value now. */
export interface PrometheusSample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What Prometheus Operator adds to each series of a pod. */
const podLabels = { namespace: 'shop', pod: 'orders-7d9f8c6b5-x2x4k' };

/**
 * A real Prometheus that reads a service each second, with exemplars, and takes what is written to it: under the job `orders`
 * as a pod of the namespace `shop`, and, where it is asked to, under the job `compose` as it is read outside of Kubernetes.
 */
export class TestPrometheus {
  readonly url: string;
  readonly #directory: string;
  readonly #server: ChildProcess;

  private constructor(port: number, directory: string) {
    this.url = `http://127.0.0.1:${port}`;
    this.#directory = directory;
    const options = [
      `--config.file=${join(directory, 'prometheus.json')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
      '--web.enable-remote-write-receiver',
      '--log.level=error',
    ];
    this.#server = spawn(tool('prometheus') ?? 'prometheus', options, { stdio: 'ignore' });
  }

  /** Starts it until the end of the test or of the file. */
  static async start(target: string, { compose = false } = {}): Promise<TestPrometheus> {
    const directory = mkdtempSync(join(tmpdir(), 'slipway-prometheus-'));
    const targets = [new URL(target).host];
    const jobs = [
      { job_name: 'orders', static_configs: [{ targets, labels: podLabels }] },
      ...(compose ? [{ job_name: 'compose', static_configs: [{ targets }] }] : []),
    ];
    // JSON is YAML.
    const config = { global: { scrape_interval: '1s' }, scrape_configs: jobs };
    writeFileSync(join(directory, 'prometheus.json'), JSON.stringify(config));
    const prometheus = new TestPrometheus(await freePort(), directory);
    whenDone(() => prometheus.#stop());
    await prometheus.#ready();
    return prometheus;
  }

  /** What an expression gives now. @throws Error with what Prometheus says of one that it does not take */
  async query(expression: string): Promise<PrometheusSample[]> {
    const { result } = await this.#ask('query', { query: expression });
    return (result as { metric: Record<string, string>; value: [number, string] }[]).map(({ metric, value }) => ({
      metric,
      value: Number(value[1]),
    }));
  }

  /** What an expression gave in each of the last seconds, by series. */
  async range(
    expression: string,
    seconds: number,
  ): Promise<{ metric: Record<string, string>; values: [number, string][] }[]> {
    const end = Date.now() / 1000;
    const window = { start: String(end - seconds), end: String(end), step: '1' };
    return (await this.#ask('query_range', { query: expression, ...window })).result as never;
  }

  /** The traces of requests that stand beside a histogram. */
  async exemplars(expression: string): Promise<{ seriesLabels: Record<string, string>; traceId: string }[]> {
    const window = { start: String(Date.now() / 1000 - 3600), end: String(Date.now() / 1000 + 60) };
    const found = (await this.#ask('query_exemplars', { query: expression, ...window })) as unknown;
    return (found as { seriesLabels: Record<string, string>; exemplars: { labels: { trace_id: string } }[] }[]).flatMap(
      ({ seriesLabels, exemplars }) => exemplars.map(({ labels }) => ({ seriesLabels, traceId: labels.trace_id })),
    );
  }

  async #ask(path: string, parameters: Record<string, string>): Promise<{ result: unknown }> {
    const response = await fetch(`${this.url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { status, data, error } = (await response.json()) as { status: string; data: never; error: string };
    if (status !== 'success') throw new Error(`${error}: ${parameters['query']}`);
    return data;
  }

  async #ready(): Promise<void> {
    while (!(await answers(`${this.url}/-/ready`)))
      if (this.#server.exitCode !== null) throw new Error('prometheus ended at its start');
  }

  /** Ends it, by its process id, and removes what it stored. */
  async #stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    if (this.#server.exitCode === null && this.#server.pid !== undefined) {
      process.kill(this.#server.pid, 'SIGKILL');
      await closed;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return new Promise((resolve) => setTimeout(resolve, 20, false));
  }
}
