import type { Request, Response } from 'express';
import { parseBody, ResourceController, sendNoContent, unscoped } from 'slipway';
import { payment, paymentList, paymentNotice } from './orders.schema.ts';
import type { PaymentService } from './payment.service.ts';

export class PaymentController extends ResourceController<PaymentService> {
  readonly schemas = { record: payment, list: paymentList };

  async settled(request: Request, response: Response): Promise<void> {
    const notice = parseBody(paymentNotice, request.body);
    await unscoped('webhook of the payment provider', () => this.service.settle(notice));
    sendNoContent(response);
  }
}
