import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { issuerOf } from './auth-files.ts';
import type { ServicePlan } from './package-file.ts';
import { packageDirectory } from './package-file.ts';

/** What builds, checks and deploys a service, by the paths of its files. */
export function deploymentFiles(plan: ServicePlan): Record<string, string> {
  return {
    Dockerfile: dockerfile(plan),
    '.dockerignore': dockerignore(plan),
    'helm/values.yaml': valuesFile(plan),
    '.github/workflows/check.yml': workflowFile,
  };
}

const comesAsTarball = ({ slipway }: ServicePlan) => slipway.startsWith('file:vendor/');

/** The Dockerfile of the reference service, with this one's name, its tarball and what its start needs of settings. */
function dockerfile(plan: ServicePlan): string {
  const { name, auth } = plan;
  let text = readFileSync(join(packageDirectory, 'Dockerfile'), 'utf8')
    .replace('image.title=slipway', `image.title=${name}`)
    .replace(
      'image.description="Slipway service: serves, migrates and seeds"',
      `image.description="The service ${name}"`,
    )
    .replace(/^ +org\.opencontainers\.image\.licenses=.*\n/m, '');
  if (comesAsTarball(plan)) {
    text = text.replace('COPY package.json package-lock.json ./\n', '$&COPY vendor vendor\n');
  }
  const settings = auth === 'issuer' ? Object.entries(issuerOf(name)).map(([key, value]) => ` ${key}=${value}`) : [];
  if (settings.length > 0) {
    const env = `# What the start below needs; pods have their own values.\nENV${settings.join('')}\n`;
    text = text.replace('FROM service AS warm\n', `$&${env}`);
  }
  return text;
}

function dockerignore(plan: ServicePlan): string {
  const text = readFileSync(join(packageDirectory, '.dockerignore'), 'utf8').replace(/!scripts\/.*\n/g, '');
  return comesAsTarball(plan) ? text.replace('!src\n', '!src\n!vendor\n') : text;
}

const secrets = {
  token: ['AUTH_TOKEN'],
  'api-keys': ['AUTH_TOKEN'],
  issuer: [],
  none: [],
  accounts: ['AUTH_JWT_SECRET'],
};

function valuesFile({ name, auth }: ServicePlan): string {
  const issuer = Object.entries(auth === 'issuer' ? issuerOf(name) : {}).map(([key, value]) => `  ${key}: ${value}\n`);
  return `# Values of the chart that the package brings, as an OCI artifact too; node_modules/slipway/helm/slipway/README.md tells
# all of them: helm upgrade --install ${name} node_modules/slipway/helm/slipway --values helm/values.yaml
nameOverride: ${name}
fullnameOverride: ${name}
image:
  repository: registry.example.com/${name}
  tag: "0.1.0"
config:
  OPENAPI_TITLE: ${name}
  OPENAPI_DESCRIPTION: The API of ${name}
${issuer.join('')}database:
  # Name of the Secret with the key DATABASE_URL. Without one the service is a demo on SQLite, with one pod.
  existingSecret: ""
embedded:
  seed: ${auth === 'accounts' ? 'small' : 'none'}
  # Of the demo. With a database these are in a Secret too, which envFrom names.
  generatedSecrets: [${[...secrets[auth], 'CURSOR_SECRET'].join(', ')}]
`;
}

const workflowFile = `name: check
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-24.04
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2
        with:
          persist-credentials: false
      - uses: actions/setup-node@395ad3262231945c25e8478fd5baf05154b1d79f # v6.1.0
        with:
          node-version: 24
          cache: npm
      - run: npm ci --no-audit --no-fund
      - run: npm run check
`;
