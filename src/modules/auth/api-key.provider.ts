import { ApiKeys } from 'slipway';

/** The API keys of accounts as a way to show who calls. */
export class ApiKeyProvider extends ApiKeys {
  constructor({ apiKeyRepository }: Pick<Slipway.Cradle, 'apiKeyRepository'>) {
    super(apiKeyRepository);
  }
}
