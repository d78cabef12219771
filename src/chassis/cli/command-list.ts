import type { Variables } from '../config/environment.ts';

/** A command of `slipway`. It prints what it did, and raises what went wrong. */
export interface Command {
  readonly name: string;
  /** What stands behind the name, e.g. `<name> <field:type>…`. */
  readonly parameters: string;
  readonly summary: string;
  /** Options and examples, as `--help` of the command shows them. */
  readonly help: string;
  /** Whether it is refused outside of the directory of a service. Default: false; the others say themselves what they need */
  readonly ofService?: boolean;
  /** Loaded only when it is called: `new` runs on an old Node, with nothing of a service there. */
  readonly load: () => Promise<(args: string[], env: Variables) => Promise<void>>;
}

/** In the order of `slipway --help`. */
export const commands: readonly Command[] = [
  {
    name: 'new',
    parameters: '<directory>',
    summary: 'make a service that starts, with its tests, chart values and workflow',
    help: `Options:
  --name <name>          name of the service; default: that of the directory
  --database <kind>      both (SQLite to start, PostgreSQL in production) or postgresql; default: both
  --auth <kind>          who may call: token (whoever has AUTH_TOKEN is the administrator), api-keys (programs, whose keys
                         the service keeps), issuer (an OpenID Connect provider knows the callers) or none (everybody);
                         default: token
  --sample               the reference service: accounts, a catalog and orders, with their tests and sample data
  --no-sample            without the module "category" to begin with
  --package <spec>       where npm finds slipway; default: where this program came from
  --no-install           write the files, and leave "npm install" to you
  --yes                  ask nothing, take the defaults

Examples:
  npx --package=./slipway-1.0.0.tgz slipway new shop --yes
  slipway new billing --database postgresql --auth issuer --no-sample`,
    load: async () => {
      const { newService } = await import('./commands/new.ts');
      return newService;
    },
  },
  {
    name: 'module',
    parameters: '<name> <field:type>…',
    summary: 'add a module: model, migration, list policy, routes, tests',
    help: `Types: string, text, int, bigint, decimal, float, boolean, datetime, uuid, json, and
  ref          a relation to the model of the same name: category:ref
  ref(Model)   a relation to another model: owner:ref(User)
  enum(a|b)    one of these values: status:enum(draft|placed)
A type may end with ? (may be null) or with ! (unique).

Options:
  --plural <name>     name of the resource in paths; default: the name with an s
  --access <guards>   public (everybody reads, an admin writes), guarded (users read, an admin writes) or open (everybody
                      does both); default: public, and open in a service that knows no callers. Where callers have API
                      keys, those with the scopes read and write are users and admins
  --force             overwrite files that are there

Examples:
  slipway module product name:string price:int category:ref
  slipway module order number:string! status:enum(draft|placed) note:text? --access guarded`,
    load: async () => {
      const { addModule } = await import('./commands/module.ts');
      return addModule;
    },
  },
  {
    name: 'generate',
    parameters: '',
    summary: 'generate the database clients from prisma/models.prisma',
    ofService: true,
    help: `Options:
  --force   generate also when the clients are newer than the models`,
    load: async () => {
      const { generate } = await import('./commands/generate.ts');
      return generate;
    },
  },
  {
    name: 'build',
    parameters: '',
    summary: 'bundle the service into dist/, and make what its image holds',
    ofService: true,
    help: `Options:
  --image <directory>   make the directory that the image runs in: bundle, packages, migrations, sources

Packages that are more than JavaScript stay beside the bundle where package.json names them:
  "slipway": { "unbundled": ["sharp"] }`,
    load: async () => {
      const { build } = await import('./commands/build.ts');
      return build;
    },
  },
  {
    name: 'migrate',
    parameters: '',
    summary: 'bring the database up to date, or write a migration',
    ofService: true,
    help: `Options:
  --create <name>        write a migration for the changes of prisma/models.prisma, for each database
  --applied <name>       note that the database has what a migration makes, so that it is not run; may be repeated
  --rolled-back <name>   note that a migration that failed on PostgreSQL was undone, then apply it again

Examples:
  slipway migrate
  slipway migrate --create add_product_weight`,
    load: async () => {
      const { migrate } = await import('./commands/migrate.ts');
      return migrate;
    },
  },
  {
    name: 'seed',
    parameters: '',
    summary: 'store the sample data of prisma/seed.ts',
    ofService: true,
    help: `Options:
  --size <size>   small or full; default: small, and in production to be named`,
    load: async () => {
      const { seed } = await import('./commands/seed.ts');
      return seed;
    },
  },
  {
    name: 'load',
    parameters: '<scenario> <profile>',
    summary: 'put the service under load with k6: every list, without a line of its own',
    ofService: true,
    help: `"slipway load help" tells scenarios, profiles and options; node_modules/slipway/load-tests/README.md tells the rest.

Examples:
  slipway load all smoke --resource all
  slipway load list-filtered-wide load --resource orders`,
    load: async () => {
      const { load } = await import('./commands/load.ts');
      return load;
    },
  },
  {
    name: 'routes',
    parameters: '',
    summary: 'list the routes: method, path, who may call, list policy',
    ofService: true,
    help: `Options:
  --json   for programs`,
    load: async () => {
      const { routes } = await import('./commands/routes.ts');
      return routes;
    },
  },
  {
    name: 'config',
    parameters: '',
    summary: 'show every setting: value, where from, default; secrets are masked',
    ofService: true,
    help: `Options:
  --changed   only those that are set
  --json      for programs`,
    load: async () => {
      const { config } = await import('./commands/config.ts');
      return config;
    },
  },
  {
    name: 'openapi',
    parameters: '',
    summary: 'write the API document, or say what a change of it breaks',
    ofService: true,
    help: `Options:
  --file <name>   where it is; default: openapi.json
  --check         write nothing, and fail where clients of the document that is there would break
  --json          with --check: the differences, for programs

Examples:
  slipway openapi
  slipway openapi --check`,
    load: async () => {
      const { openapi } = await import('./commands/openapi.ts');
      return openapi;
    },
  },
  {
    name: 'client',
    parameters: '<url or file>',
    summary: 'make a typed client of another service of its OpenAPI document',
    help: `Options:
  --name <name>       name of the client; default: the title of the API
  --module <module>   put it into this module; default: src/clients
  --force             overwrite a file of types that was not made by this command

Examples:
  slipway client http://localhost:3000/api-docs.json
  slipway client payments.yaml --name payments --module orders`,
    load: async () => {
      const { client } = await import('./commands/client.ts');
      return client;
    },
  },
  {
    name: 'upgrade',
    parameters: '',
    summary: 'bring the service to the version of this program, and tell what has changed',
    help: `Options:
  --package <spec>   where npm finds slipway; default: where this program came from
  --no-install       change the files, and leave "npm install" to you

Examples:
  npx slipway@latest upgrade
  npx --package=./slipway-1.1.0.tgz slipway upgrade`,
    load: async () => {
      const { upgrade } = await import('./commands/upgrade.ts');
      return upgrade;
    },
  },
  {
    name: 'doctor',
    parameters: '',
    summary: 'look for what keeps the service from running well, and say how to mend it',
    ofService: true,
    help: `Options:
  --json   for programs`,
    load: async () => {
      const { doctor } = await import('./commands/doctor.ts');
      return doctor;
    },
  },
];
