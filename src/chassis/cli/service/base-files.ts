import { randomBytes } from 'node:crypto';
import { packageFile } from './package-file.ts';

/** A service to be made. */
export interface ServicePlan {
  readonly name: string;
  readonly database: 'both' | 'postgresql';
  /** Where npm finds the chassis. */
  readonly slipway: string;
}

/** The files of a new service without modules of its own, by their paths. */
export function baseFiles(plan: ServicePlan): Record<string, string> {
  return {
    'package.json': packageFile(plan.name, plan.slipway),
    'tsconfig.json': tsconfigFile,
    'vitest.config.ts': vitestFile,
    '.gitignore': gitignoreFile,
    '.env': `AUTH_TOKEN=${randomBytes(32).toString('base64url')}\n${titles(plan)}`,
    'README.md': readmeFile(plan),
    'src/main.ts': mainFile,
    'src/app.config.ts': appConfigFile,
    ...authFiles(),
    'prisma/models.prisma': modelsFile(plan),
    'test/service.test.ts': testFile(plan),
    'helm/values.yaml': valuesFile(plan),
    '.github/workflows/check.yml': workflowFile,
  };
}

/** What the API page says of the service, as variables. */
function titles({ name }: ServicePlan): string {
  return `OPENAPI_TITLE=${name}\nOPENAPI_DESCRIPTION=The API of ${name}\n`;
}

const tsconfigFile = `{
  "extends": "slipway/tsconfig.json",
  "include": ["src", "test", "load-tests", "*.ts"]
}
`;

const vitestFile = `import { serviceTests } from 'slipway/vitest';

export default serviceTests();
`;

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

await runService(() => import('./app.config.ts'));
`;

const appConfigFile = `import { type AppConfig, readEnvironment, serverConfig, type Variables } from 'slipway';
import { authSettings } from './modules/auth/auth.config.ts';

/**
 * What this service is made of.
 *
 * @param env the variables to read, such as \`process.env\`
 * @throws ConfigurationError with all problems
 */
export function appConfig(env: Variables): AppConfig {
  const moduleSettings = { ...authSettings };
  return {
    moduleSettings,
    modules: [
      { name: 'auth', enabled: true },
    ],
    server: serverConfig(readEnvironment(moduleSettings, env)),
  };
}
`;

function authFiles(): Record<string, string> {
  return {
    'src/modules/auth/auth.config.ts': `import { randomBytes } from 'node:crypto';
import { z } from 'slipway';

/** Settings of the auth module, by the name of their environment variable. */
export const authSettings = {
  AUTH_TOKEN: z
    .string()
    .min(32, 'expected at least 32 characters, e.g. of \`openssl rand -base64 32\`')
    .default(() => randomBytes(32).toString('base64url'))
    .describe('Bearer token of the administrator; outside production made anew at each start when unset')
    .meta({ secret: true, requiredInProduction: true }),
};

declare global {
  namespace Slipway {
    interface Settings extends z.infer<z.ZodObject<typeof authSettings>> {}
  }
}
`,
    'src/modules/auth/auth.guard.ts': `import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { currentPrincipal, documented, ForbiddenException, setPrincipal, UnauthorizedException } from 'slipway';

/**
 * Says who may call a route; in the cradle as \`auth\`. Who has AUTH_TOKEN is the administrator. Verify the tokens of your
 * users here, and set their principal.
 */
export class AuthGuard {
  readonly #token: Buffer;

  constructor({ settings }: Pick<Slipway.Cradle, 'settings'>) {
    this.#token = digest(settings.AUTH_TOKEN);
  }

  /** Lets every authenticated caller through. 401 without a valid token. */
  user(): RequestHandler {
    return this.#admit([401], () => true);
  }

  /** Lets callers with this role through. 401 without a valid token, 403 with another role. */
  role(role: string): RequestHandler {
    return this.#admit([401, 403], (roles) => roles.has(role));
  }

  #admit(statuses: number[], may: (roles: ReadonlySet<string>) => boolean): RequestHandler {
    const guard: RequestHandler = (request, _response, next) => {
      if (!currentPrincipal()) this.#identify(request);
      if (!may(currentPrincipal()?.roles ?? new Set())) throw new ForbiddenException('Your role does not allow this');
      next();
    };
    return documented(guard, { security: ['bearer'], statuses });
  }

  #identify({ headers: { authorization = '' } }: Request): void {
    const token = /^Bearer +(\\S+)$/i.exec(authorization)?.[1];
    if (token === undefined || !timingSafeEqual(digest(token), this.#token)) {
      const headers = { 'WWW-Authenticate': 'Bearer' };
      throw new UnauthorizedException('Expected the header Authorization: Bearer <token>', undefined, { headers });
    }
    setPrincipal({ userId: 'administrator', roles: new Set(['admin']), scopes: new Set() });
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
`,
    'src/modules/auth/di.ts': `import { type Provided, provide } from 'slipway';
import { AuthGuard } from './auth.guard.ts';

const dependencies = { auth: AuthGuard };

export const registerDependencies = provide(dependencies);

declare global {
  namespace Slipway {
    interface Cradle extends Provided<typeof dependencies> {}
  }
}
`,
  };
}

function modelsFile({ database }: ServicePlan): string {
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
`;
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

function valuesFile({ name }: ServicePlan): string {
  return `# Values of the chart that the package brings: helm install ${name} node_modules/slipway/helm/slipway -f helm/values.yaml
# node_modules/slipway/helm/slipway/README.md tells all values.
nameOverride: ${name}
image:
  repository: ${name}
config:
  OPENAPI_TITLE: ${name}
  OPENAPI_DESCRIPTION: The API of ${name}
database:
  # The Secret with the key "DATABASE_URL". Without one the service runs on SQLite, with one replica.
  existingSecret: ""
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

function readmeFile({ name }: ServicePlan): string {
  return `# ${name}

A service of the [Slipway](node_modules/slipway/README.md) chassis.

\`\`\`sh
npm install
npm start
\`\`\`

Then <http://localhost:3000/api-docs> is its API page. \`.env\` has the token of the administrator, \`AUTH_TOKEN\`.

| script | does |
|---|---|
| \`npm start\`, \`npm run dev\` | starts it, on SQLite unless \`DATABASE_URL\` says otherwise; \`dev\` again after each change |
| \`npm test\` | runs the tests on each database; PostgreSQL comes along |
| \`npm run check\` | types and tests, as CI does |
| \`npx slipway module order number:string! note:text?\` | adds a module |
| \`npm run db:migrate -- --create <name>\` | writes a migration for changed models |

\`src/app.config.ts\` says what the service is made of, \`src/modules\` holds its features, \`prisma/models.prisma\` its models.
`;
}
