import { ResourceController } from 'slipway';
import { createStock, stock, stockList, updateStock } from './orders.schema.ts';
import type { StockService } from './stock.service.ts';

export class StockController extends ResourceController<StockService> {
  readonly schemas = { record: stock, create: createStock, update: updateStock, list: stockList };
}
