import { ResourceService } from 'slipway';
import type { StockRepository } from './stock.repository.ts';

export class StockService extends ResourceService<StockRepository> {}
