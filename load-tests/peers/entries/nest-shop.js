/** NestJS 12 on Express, its default, with what Slipway has switched on. Decorators are applied by hand: this is JavaScript. */
import 'reflect-metadata';
import process from 'node:process';
import { Catch, Controller, Get, HttpException, Module, Param, Query } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { steps } from './express-full.js';
import { failure, index, one, page } from './shop.js';

class ShopController {
  index() {
    return index;
  }

  list(query) {
    return page(query);
  }

  get(id) {
    return one(id);
  }
}

class AllFailures {
  catch(error, host) {
    const status = error instanceof HttpException ? error.getStatus() : (error.status ?? 500);
    const response = host.switchToHttp().getResponse();
    response.status(status).json(failure({ status, message: error.message, details: error.details }));
  }
}

class AppModule {}

const route = (path, method) => Get(path)(ShopController.prototype, method, descriptorOf(method));
const descriptorOf = (method) => Object.getOwnPropertyDescriptor(ShopController.prototype, method);
Query()(ShopController.prototype, 'list', 0);
Param('id')(ShopController.prototype, 'get', 0);
route('/', 'index');
route('api/v1/products/paginated', 'list');
route('api/v1/products/:id', 'get');
Controller()(ShopController);
Catch()(AllFailures);
Module({ controllers: [ShopController] })(AppModule);

const app = await NestFactory.create(AppModule, { logger: false, bodyParser: false });
app.use(...steps());
app.useGlobalFilters(new AllFailures());
await app.listen(Number(process.env.PORT), '127.0.0.1');
