import { apiKeyModel } from './api-key-files.ts';
import { authFiles, authSettings, authVariables } from './auth-files.ts';
import { deploymentFiles } from './deployment-files.ts';
import type { ServicePlan } from './package-file.ts';
import { packageFile } from './package-file.ts';

/** The files of a new service without modules of its own, by their paths. */
export function baseFiles(plan: ServicePlan): Record<string, string> {
  return {
    'package.json': packageFile(plan),
    'tsconfig.json': tsconfigFile,
    'vitest.config.ts': vitestFile(plan),
    '.gitignore': gitignoreFile,
    '.env': textOf({ ...authVariables(plan), ...titles(plan) }),
    'README.md': readmeFile(plan),
    'src/main.ts': mainFile,
    'src/app.config.ts': appConfigFile(plan),
    ...authFiles(plan),
    'prisma/models.prisma': modelsFile(plan),
    'test/service.test.ts': testFile(plan),
    ...deploymentFiles(plan),
  };
}

/** Variables as a file `.env` holds them. */
function textOf(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** What the API page says of the service. */
function titles({ name }: ServicePlan): Record<string, string> {
  return { OPENAPI_TITLE: name, OPENAPI_DESCRIPTION: `The API of ${name}` };
}

const tsconfigFile = `{
  "extends": "slipway/tsconfig.json",
  "include": ["src", "test", "*.ts"]
}
`;

/** Tests of a service with an identity provider call as whom they name; none is asked for its keys. */
function vitestFile({ auth }: ServicePlan): string {
  const settings = "{ settings: { AUTH_ISSUER: 'https://id.test', AUTH_JWKS_URL: 'http://127.0.0.1:9/jwks.json' } }";
  const options = auth === 'accounts' ? "{ seed: 'small' }" : auth === 'issuer' ? settings : '';
  return `import { serviceTests } from 'slipway/vitest';

export default serviceTests(${options && `{}, ${options}`});
`;
}

const gitignoreFile = `node_modules/
dist/
src/generated/
data/
/uploads/
.cache/
*.log
.env
`;

const mainFile = `import { runService } from 'slipway/run';

void runService(() => import('./app.config.ts'));
`;

function appConfigFile({ auth }: ServicePlan): string {
  const settings = authSettings(auth);
  const routesPrefix = auth === 'api-keys' ? ", routesPrefix: '/auth'" : '';
  const authModule = `{ name: 'auth', enabled: true${routesPrefix} }`;
  return `import { type AppConfig, readEnvironment, serverConfig, type Variables } from 'slipway';
${settings ? "import { authSettings } from './modules/auth/auth.config.ts';\n" : ''}
/**
 * What this service is made of.
 *
 * @param env the variables to read, such as \`process.env\`
 * @throws ConfigurationError with all problems
 */
export function appConfig(env: Variables): AppConfig {
  const moduleSettings = {${settings ? ' ...authSettings ' : ''}};
  return {
    moduleSettings,
    modules: [${auth === 'none' ? '' : `\n      ${authModule},\n    `}],
    server: serverConfig(readEnvironment(moduleSettings, env)),
  };
}
`;
}

function modelsFile({ database, auth }: ServicePlan): string {
  const datasource = 'datasource db {\n  provider = "postgresql"\n}\n\n';
  return `// The one source of models: "slipway generate" makes a client of each database of it.

${database === 'postgresql' ? datasource : ''}/// What requests with an Idempotency-Key were answered with; the chassis reads and writes it for \`idempotent\`.
model IdempotencyKey {
  id          String   @id
  fingerprint String
  owner       String
  lockedUntil DateTime @db.Timestamptz(3)
  answer      String?
  expiresAt   DateTime @db.Timestamptz(3)
  createdAt   DateTime @default(now()) @db.Timestamptz(3)

  @@index([expiresAt])
  @@map("idempotency_keys")
}
${auth === 'api-keys' ? apiKeyModel : ''}`;
}

function testFile({ name }: ServicePlan): string {
  return `import { bootTestService } from 'slipway/testing';
import { describe, expect, it } from 'vitest';

const service = await bootTestService();

describe('${name}', () => {
  it('is ready once it has started', async () => {
    const { status, body } = await service.internal.get('/readyz');
    expect({ status, body }).toMatchObject({ status: 200 });
  });

  it('answers a path that it does not know with the one error body', async () => {
    await service.get('/nowhere').expectError(404, /.+/);
  });
});
`;
}

/** The command makes the token that a clone lacks. */
const ownToken = `Git leaves \`.env\` out, so each clone makes a token of its own:

\`\`\`sh
echo "AUTH_TOKEN=$(openssl rand -base64 32)" >> .env
\`\`\``;

const credentials = {
  token: ` \`.env\` has the token of the administrator, \`AUTH_TOKEN\`. ${ownToken}`,
  'api-keys': ` Its callers have API keys, which who has \`AUTH_TOKEN\` makes; \`.env\` has it. ${ownToken}`,
  issuer:
    ' `.env` names the identity provider, `AUTH_ISSUER`, and what its tokens are for, `AUTH_AUDIENCE`; git leaves it out, so each clone names them.',
  none: ' Everybody may call all of it.',
  accounts: ' The start tells an account of the sample data.',
};

function readmeFile({ name, auth }: ServicePlan): string {
  return `# ${name}

A service of the [Slipway](node_modules/slipway/README.md) chassis.

\`\`\`sh
npm install
npm start
\`\`\`

Then <http://localhost:3000/api-docs> is its API page.${credentials[auth]}

| command | does |
|---|---|
| \`npm start\`, \`npm run dev\` | starts it, on SQLite unless \`DATABASE_URL\` says otherwise; \`dev\` again after each change |
| \`npm test\` | runs the tests on each database; PostgreSQL comes along |
| \`npm run check\` | types and tests, as CI does |
| \`npm run load -- all smoke --resource all\` | puts every list under load with [k6](node_modules/slipway/load-tests/README.md) |
| \`npx slipway module order number:string! note:text?\` | adds a module |
| \`npm run db:migrate -- --create <name>\` | writes a migration for changed models |
| \`docker build --tag registry.example.com/${name}:0.1.0 .\` | builds the image |
| \`helm upgrade --install ${name} node_modules/slipway/helm/slipway --values helm/values.yaml\` | deploys it |

\`src/app.config.ts\` says what the service is made of, \`src/modules\` holds its features, \`prisma/models.prisma\` its models,
\`helm/values.yaml\` how it is deployed; [the chart's README](node_modules/slipway/helm/slipway/README.md) tells all values.
${auth === 'api-keys' ? apiKeySection : ''}`;
}

const apiKeySection = `
## API keys

The first key, and each later one:

\`\`\`sh
curl -s localhost:3000/auth/api-keys -H "Authorization: Bearer $(sed -n 's/^AUTH_TOKEN=//p' .env)" \\
  -H 'Content-Type: application/json' -d '{"name": "nightly-import", "scopes": ["read", "write"], "expiresInDays": 90}'
\`\`\`

The answer has the key, this once; a program sends it as \`X-API-Key: slipway_…\`. \`read\` and \`write\` are what routes ask for:
\`auth.scope('write')\`. The name is who calls, so a new key of the same name takes over before the old one is revoked:
\`DELETE /auth/api-keys/:id\`.
`;
