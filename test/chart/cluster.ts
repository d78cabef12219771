import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The kinds that helm resolves before it prints what it rendered, by group and version. */
const kinds: Record<string, [resource: string, kind: string][]> = {
  v1: [
    ['pods', 'Pod'],
    ['secrets', 'Secret'],
    ['services', 'Service'],
    ['serviceaccounts', 'ServiceAccount'],
  ],
  'apps/v1': [['deployments', 'Deployment']],
  'batch/v1': [['jobs', 'Job']],
  'autoscaling/v2': [['horizontalpodautoscalers', 'HorizontalPodAutoscaler']],
  'policy/v1': [['poddisruptionbudgets', 'PodDisruptionBudget']],
};

const groups = Object.keys(kinds).flatMap((groupVersion) => {
  const [name = '', version] = groupVersion.split('/');
  const versions = [{ groupVersion, version }];
  return version === undefined ? [] : [{ name, versions, preferredVersion: versions[0] }];
});

/** As much of the Kubernetes API as helm asks for on behalf of `lookup`. */
const api: Record<string, unknown> = {
  '/version': { major: '1', minor: '36', gitVersion: 'v1.36.2' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups },
  ...Object.fromEntries(
    Object.entries(kinds).map(([groupVersion, names]) => [
      groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`,
      {
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion,
        resources: names.map(([name, kind]) => ({ name, kind, singularName: '', namespaced: true, verbs: ['get'] })),
      },
    ]),
  ),
};

/** An API server that holds these objects, by path, and a kubeconfig that leads to it. */
export async function startCluster(
  objects: Record<string, unknown>,
): Promise<{ kubeconfig: string } & AsyncDisposable> {
  const known = { ...api, ...objects };
  const server = createServer((request, response) => {
    const found = known[(request.url ?? '').replace(/\?.*/, '')];
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(found ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 }),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const directory = mkdtempSync(join(tmpdir(), 'slipway-cluster-'));
  const kubeconfig = join(directory, 'kubeconfig.json');
  const { port } = server.address() as AddressInfo;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    clusters: [{ name: 'test', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'test', user: {} }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return {
    kubeconfig,
    async [Symbol.asyncDispose]() {
      rmSync(directory, { recursive: true, force: true });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
