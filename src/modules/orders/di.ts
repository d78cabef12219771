import { type Provided, provide, resource } from 'slipway';
import { OrderController } from './order.controller.ts';
import { OrderRepository } from './order.repository.ts';
import { OrderService } from './order.service.ts';
import { OrderLineRepository } from './order-line.repository.ts';
import { PaymentController } from './payment.controller.ts';
import { PaymentRepository } from './payment.repository.ts';
import { PaymentService } from './payment.service.ts';
import { paymentProvider } from './payment-provider.client.ts';
import { StockController } from './stock.controller.ts';
import { StockRepository } from './stock.repository.ts';
import { StockService } from './stock.service.ts';

const dependencies = {
  paymentProvider,
  orderLineRepository: OrderLineRepository,
  ...resource('order', { repository: OrderRepository, service: OrderService, controller: OrderController }),
  ...resource('stock', { repository: StockRepository, service: StockService, controller: StockController }),
  ...resource('payment', { repository: PaymentRepository, service: PaymentService, controller: PaymentController }),
};

export const registerDependencies = provide(dependencies);

declare global {
  namespace Slipway {
    interface Cradle extends Provided<typeof dependencies> {}
  }
}
