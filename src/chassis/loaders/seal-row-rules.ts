import { databaseKindOf } from '../database/client/database-kind.ts';
import type { Service } from '../service.ts';
import { explainFailure } from './explain-failure.ts';

/**
 * Makes every repository of the container, so that the rules for the rows of its model hold before the first query, and
 * says which models with tenants are closed because no repository gives them a scope. Repositories are known by their
 * names, which end in `Repository`.
 *
 * @throws Error when two repositories differ in what they say of one model
 */
export async function sealRowRules(service: Service): Promise<void> {
  const { container, database, logger, startUpReport } = service;
  if (!database.isOpen) return;
  for (const name of Object.keys(container.registrations)) {
    if (!name.endsWith('Repository')) continue;
    try {
      container.resolve(name);
    } catch (caught) {
      // Its rules are not known, so the service does not get ready.
      const error = await explainFailure(caught, name, service);
      startUpReport.addFailure({ loader: 'loadDI', module: name, file: 'di', error });
      logger.error({ err: error, repository: name }, 'repository construction failed');
    }
  }
  const { rules } = databaseKindOf(database.client);
  rules.seal();
  const models = rules.unscopedTenantModels;
  if (models.length === 0) return;
  // Those of a disabled module are closed on purpose.
  const level = service.config.modules.every(({ enabled }) => enabled) ? 'warn' : 'debug';
  logger[level]({ models }, 'models closed: tenantId without a scope in the repository');
}
