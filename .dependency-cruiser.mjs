/**
 * Who may import whom. Each rule's comment is what the author of a forbidden import reads.
 * test/house/import-rules.test.ts plants a violation of every rule and expects it to be caught.
 */

/** The folders of src/chassis: what each may import besides itself, and of what it may import types only. */
const chassis = {
  errors: { types: ['context'] },
  config: {},
  // What ends an abandoned request raises an exception of the chassis.
  context: { from: ['errors'] },
  di: { from: ['errors', 'config'] },
  // A list policy asks which service reads it.
  query: { from: ['errors', 'context'] },
  telemetry: { from: ['errors', 'context', 'config'] },
  http: { from: ['errors', 'context', 'query', 'telemetry'], types: ['config'] },
  database: { from: ['errors', 'context', 'query', 'telemetry', 'config'] },
  admission: { from: ['errors', 'config', 'context', 'telemetry', 'http'] },
  // Its quota is counted as rate limits are.
  idempotency: { from: ['errors', 'context', 'http', 'database', 'openapi'], types: ['admission'] },
  webhooks: { from: ['errors', 'context', 'http', 'idempotency', 'openapi'], types: ['database'] },
  outbound: { from: ['errors', 'context', 'config', 'telemetry'] },
  identity: { from: ['errors', 'context', 'config', 'telemetry', 'outbound', 'openapi'] },
  uploads: { from: ['errors', 'context', 'http', 'admission', 'outbound'], types: ['config', 'telemetry'] },
  events: { from: ['errors', 'context', 'config', 'telemetry', 'database', 'jobs'] },
  jobs: { from: ['errors', 'context', 'config', 'telemetry', 'database'] },
  resource: { from: ['errors', 'context', 'query', 'http', 'di'], types: ['database'] },
  openapi: { from: ['errors', 'config', 'query', 'http', 'resource'] },
  // What a program of the build begins with, before anything else of the chassis is loaded.
  bundle: {},
  // Programs of the image, each a process of its own.
  image: { from: ['config'] },
  internal: { from: ['errors', 'config', 'telemetry', 'database', 'http', 'lifecycle'] },
  lifecycle: { from: ['errors', 'config', 'context', 'telemetry', 'database', 'http', 'admission'] },
  cli: {
    from: [
      'errors',
      'config',
      'context',
      'database',
      'http',
      'jobs',
      'lifecycle',
      'loaders',
      'openapi',
      'query',
      'telemetry',
    ],
  },
  testing: { from: ['config', 'context', 'database', 'jobs'] },
};

/** The roles of a module's files, and which of them each may not import: calls go one step down the chain. */
const roles = {
  routes: 'service|repository',
  controller: 'routes|repository',
  service: 'routes|controller',
  repository: 'routes|controller|service',
  schema: 'routes|controller|service|repository',
  types: 'routes|controller|service|repository|schema',
};

const typeOnly = ['type-only'];

/** A side is a path as a regular expression, or a condition with more parts. */
function forbid(name, comment, from, to) {
  const condition = (side) => (typeof side === 'string' ? { path: side } : side);
  return { name, severity: 'error', comment, from: condition(from), to: condition(to) };
}

function chassisRules() {
  return Object.entries(chassis).flatMap(([folder, { from = [], types = [] }]) => {
    const own = `^src/chassis/${folder}/`;
    const reach = [folder, ...from, ...types].join('|');
    const comment = `chassis/${folder} imports ${from.join(', ') || 'no other folder of the chassis'}${types.length ? `, and types of ${types.join(', ')}` : ''}`;
    const rules = [
      forbid(`chassis-${folder}`, comment, own, {
        path: '^src/chassis/',
        pathNot: `^src/chassis/((${reach})/|service[.]ts$)`,
      }),
    ];
    if (types.length === 0) return rules;
    const values = { path: `^src/chassis/(${types.join('|')})/`, dependencyTypesNot: typeOnly };
    return [...rules, forbid(`chassis-${folder}-types`, comment, own, values)];
  });
}

function roleRules() {
  return Object.entries(roles).map(([role, others]) =>
    forbid(
      `module-${role}`,
      `a *.${role}.ts file imports no ${others.replaceAll('|', ' and no ')}: routes -> controller -> service -> repository`,
      `^src/modules/.*[.]${role}[.]ts$`,
      `^src/modules/.*[.](${others})[.]ts$`,
    ),
  );
}

/** What tests and builds a service has its tools in its development packages, optional peers of this one. */
const productionFile = { path: '^src/', pathNot: '^src/chassis/(testing|cli/(build|client))/' };

const moduleFile = '^src/modules/([^/]+)/';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    forbid(
      'no-cycle',
      'files that import each other cannot be read, tested or loaded one by one',
      {},
      {
        circular: true,
        // List policies name each other in functions that run later; other than policies a schema imports nothing.
        viaOnly: { dependencyTypesNot: typeOnly, pathNot: '^src/modules/.*[.]schema[.]ts$' },
      },
    ),
    forbid(
      'resolvable',
      'the file or package is not there: check the name, its .ts ending, package.json',
      {},
      {
        couldNotResolve: true,
      },
    ),
    forbid('no-dev-package', 'what runs in production stands in "dependencies" of package.json', productionFile, {
      dependencyTypes: ['npm-dev', 'npm-no-pkg'],
      // The logger writes plain JSON where the one is missing; a start says that the other is, where it is needed.
      pathNot: 'node_modules/(pino-pretty|@aws-sdk/client-s3)/',
      dependencyTypesNot: typeOnly,
    }),
    forbid(
      'src-alone',
      'src/ is what is shipped: it imports no test, script or seed',
      '^src/',
      '^(test|scripts|prisma)/',
    ),
    forbid('main', 'main.ts imports slipway/run and app.config.ts, nothing else of src/', '^src/main[.]ts$', {
      path: '^src/',
      pathNot: '^src/app[.][a-z-]+[.]ts$',
    }),
    forbid(
      'app-config',
      'app.*.ts imports slipway and the *.config.ts of modules; it names modules by text',
      '^src/app[.][a-z-]+[.]ts$',
      {
        path: '^src/',
        pathNot: '^src/(app[.]|modules/[^/]+/[^/]+[.]config[.]ts$)',
      },
    ),
    forbid(
      'start',
      'start.ts puts loaders in order: it opens, listens and closes, and knows nothing of queries and resources',
      '^src/chassis/start[.]ts$',
      {
        path: '^src/chassis/',
        pathNot: '^src/chassis/((loaders|lifecycle|telemetry|http|database|admission|internal)/|service[.]ts$)',
      },
    ),
    forbid(
      'chassis-alone',
      'the chassis knows no feature, no generated client and no file beside it',
      '^src/chassis/',
      { path: '^src/', pathNot: '^src/chassis/' },
    ),
    forbid(
      'no-inside-door',
      'index.ts and the package are for modules; inside the chassis a file is imported by its own name',
      '^src/chassis/',
      '^(src/chassis/index[.]ts$|lib/)',
    ),
    forbid(
      'nobody-starts',
      'service.ts alone runs start.ts; main.ts and what stands beside it is imported by nobody but main.ts',
      { path: '^src/(chassis|modules)/', pathNot: '^src/chassis/service[.]ts$' },
      '^src/(chassis/start|main|app[.][a-z-]+)[.]ts$',
    ),
    forbid(
      'service',
      'the rooms of the chassis take what they need as parameters; context, loaders and start.ts name the type Service',
      {
        path: '^src/chassis/',
        pathNot: '^src/chassis/(index[.]ts$|run[.]ts$|start[.]ts$|context/|loaders/|cli/|testing/)',
      },
      '^src/chassis/service[.]ts$',
    ),
    forbid(
      'service-type',
      'context, loaders and start.ts import the type Service, not its value',
      { path: '^src/chassis/', pathNot: '^src/chassis/(index|run|cli/loaded-service|testing/boot-test-service)[.]ts$' },
      {
        path: '^src/chassis/service[.]ts$',
        dependencyTypesNot: typeOnly,
      },
    ),
    forbid(
      'current-environment',
      'current-environment.ts is for the door: inside the chassis what belongs to a service is passed as a parameter',
      { path: '^src/chassis/', pathNot: '^src/chassis/index[.]ts$' },
      '^src/chassis/current-environment[.]ts$',
    ),
    forbid(
      'current-service',
      'only the functions that spec.md and the door name without a parameter ask which service is the current one',
      {
        path: '^src/chassis/',
        pathNot:
          '^src/chassis/(current-environment[.]ts$|service[.]ts$|loaders/|context/run-as[.]ts$|admission/rate-limit[.]ts$|outbound/http-client[.]ts$|idempotency/idempotent[.]ts$|webhooks/signed-by[.]ts$|identity/(bearer|api-keys)[.]ts$|http/streams/send-(events|stream)[.]ts$|http/answers/record-room[.]ts$|uploads/(read-form|files/send-file)[.]ts$|database/work/|query/policy/(computed-field|list-policy)[.]ts$|lifecycle/process-guards[.]ts$)',
      },
      '^src/chassis/context/current-service[.]ts$',
    ),
    ...chassisRules(),
    forbid(
      'module-door',
      'a module imports the chassis as "slipway" only; is an export missing in chassis/index.ts?',
      {
        path: moduleFile,
      },
      { path: '^src/', pathNot: '^src/modules/' },
    ),
    forbid(
      'module-module',
      "a module imports types of another module's *.types.ts; calls go through the container",
      {
        path: moduleFile,
      },
      { path: '^src/modules/', pathNot: ['^src/modules/$1/', '[.]types[.]ts$'] },
    ),
    forbid(
      'module-module-types',
      "another module's *.types.ts is imported with `import type`",
      {
        path: moduleFile,
      },
      { path: '^src/modules/.*[.]types[.]ts$', pathNot: '^src/modules/$1/', dependencyTypesNot: typeOnly },
    ),
    forbid('module-di', "di.ts is the loader's: nothing imports it", {}, '^src/modules/[^/]+/di[.]ts$'),
    ...roleRules(),
    forbid(
      'no-express-below',
      'services and repositories know no Express: they take and give plain values',
      '^src/modules/.*[.](service|repository|schema)[.]ts$',
      'node_modules/(@types/)?(express|express-serve-static-core|multer)/',
    ),
    forbid(
      'prisma',
      'only chassis/database and repositories know Prisma, and tracing its spans; types come from Slipway.Orm',
      {
        path: '^src/',
        pathNot: '^src/(chassis/database/|chassis/telemetry/tracing/|generated/|modules/.*[.]repository[.]ts$)',
      },
      { path: ['node_modules/(@prisma|prisma)/', '^src/generated/'] },
    ),
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^src/generated', '^lib/'] },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default'],
      extensions: ['.ts', '.d.ts', '.js', '.mjs'],
    },
  },
};
