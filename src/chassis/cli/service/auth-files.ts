import { randomBytes } from 'node:crypto';
import { apiKeyFiles, apiKeyTest } from './api-key-files.ts';
import type { Auth, ServicePlan } from './package-file.ts';

/** The module that says who calls, by the paths of its files; none where everybody may, or another module says it. */
export function authFiles({ auth }: ServicePlan): Record<string, string> {
  if (auth === 'none' || auth === 'accounts') return {};
  const settings = authSettings(auth);
  const sources = auth === 'api-keys' ? apiKeyFiles : { 'di.ts': diFile(auth) };
  return {
    ...(settings && { 'src/modules/auth/auth.config.ts': settings }),
    ...Object.fromEntries(Object.entries(sources).map(([file, text]) => [`src/modules/auth/${file}`, text])),
    ...(auth === 'api-keys' && { 'test/modules/api-key.test.ts': apiKeyTest }),
  };
}

/** The settings that the module adds; undefined where those of the chassis do. */
export function authSettings(auth: Auth): string | undefined {
  if (auth !== 'token' && auth !== 'api-keys') return undefined;
  const holder = auth === 'token' ? 'the administrator' : 'the operator, who makes API keys';
  return `import { signingSecrets, type z } from 'slipway';

/** Settings of the auth module, by the name of their environment variable. */
export const authSettings = {
  AUTH_TOKEN: signingSecrets('Bearer tokens of ${holder}, by commas'),
};

declare global {
  namespace Slipway {
    interface Settings extends z.infer<z.ZodObject<typeof authSettings>> {}
  }
}
`;
}

/** What a start needs of settings, for the file `.env`. */
export function authVariables({ auth, name }: ServicePlan): Record<string, string> {
  if (auth === 'token' || auth === 'api-keys') return { AUTH_TOKEN: randomBytes(32).toString('base64url') };
  return auth === 'issuer' ? issuerOf(name) : {};
}

/** The settings of an identity provider that a new service has until somebody names the real one. */
export function issuerOf(name: string): Record<string, string> {
  return { AUTH_ISSUER: 'https://id.example.com', AUTH_AUDIENCE: name };
}

function diFile(auth: 'token' | 'issuer'): string {
  const [provider, make] =
    auth === 'token' ? ['fixedToken', '({ AUTH_TOKEN }) => fixedToken(AUTH_TOKEN)'] : ['bearer', '() => bearer()'];
  const imports = [provider, 'guards', 'type Provided', 'provide'].sort((a, b) =>
    a.replace('type ', '').localeCompare(b.replace('type ', '')),
  );
  return `import { ${imports.join(', ')} } from 'slipway';

/** Guards of routes: auth.user(), auth.role('admin') and more. node_modules/slipway/README.md tells other providers. */
const dependencies = {
  auth: guards(${make}, { roles: ['admin', 'user'] }),
};

export const registerDependencies = provide(dependencies);

declare global {
  namespace Slipway {
    interface Cradle extends Provided<typeof dependencies> {}
  }
}
`;
}
