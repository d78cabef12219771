import type { Request, Response } from 'express';
import { lastEventId, ResourceController, sendEvents, sendStream } from 'slipway';
import type { OrderService } from './order.service.ts';
import { createOrder, order, orderList, updateOrder } from './orders.schema.ts';

const exported = ['number', 'status', 'note', 'placedAt', 'paidAt', 'createdAt'] as const;

export class OrderController extends ResourceController<OrderService> {
  readonly schemas = { record: order, create: createOrder, update: updateOrder, list: orderList };

  export(_request: Request, response: Response): Promise<void> {
    const rows = this.service.each(Object.fromEntries(exported.map((name) => [name, true])));
    return sendStream(response, rows, { format: 'csv', filename: 'orders.csv', columns: exported });
  }

  events(request: Request, response: Response): Promise<void> {
    return sendEvents(response, this.service.changes(this.idOf(request), lastEventId(request)));
  }
}
