import type { Request, Response } from 'express';
import { lastEventId, ResourceController, sendEvents } from 'slipway';
import type { OrderService } from './order.service.ts';
import { createOrder, order, orderList, updateOrder } from './orders.schema.ts';

export class OrderController extends ResourceController<OrderService> {
  readonly schemas = { record: order, create: createOrder, update: updateOrder, list: orderList };

  events(request: Request, response: Response): Promise<void> {
    return sendEvents(response, this.service.changes(this.idOf(request), lastEventId(request)));
  }
}
