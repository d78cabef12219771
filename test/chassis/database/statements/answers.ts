import type { Request, Response } from 'express';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import { BaseException } from '../../../../src/chassis/errors/exceptions.ts';
import { createCursorCodec } from '../../../../src/chassis/query/paging/cursor.ts';
import type { AnyListPolicy } from '../../../../src/chassis/query/policy/list-policy.ts';
import { ResourceController } from '../../../../src/chassis/resource/resource-controller.ts';
import type { ResourceSchemas } from '../../../../src/chassis/resource/resource-schemas.ts';
import { ResourceService } from '../../../../src/chassis/resource/resource-service.ts';

const cursors = createCursorCodec('a secret of the tests that is long enough');

/** The routes that read. */
export type Reading = 'list' | 'paginated' | 'get';

/** A resource of any model as its routes have it, asked without a connection in between. */
export class Answers {
  readonly #controller: ResourceController;

  /** @param rules the service, by default one without rules of its own */
  constructor(orm: object, list: AnyListPolicy, rules?: ResourceService) {
    const accessor = list.model.charAt(0).toLowerCase() + list.model.slice(1);
    class Records extends Repository<'product'> {
      protected readonly model = accessor as 'product';
    }
    class Controller extends ResourceController {
      readonly schemas = { record: list.record, list } as unknown as ResourceSchemas;
    }
    this.#controller = new Controller({
      service: rules ?? new ResourceService({ repository: new Records({ orm: orm as never }) }),
      cursors,
    });
  }

  /** Status, headers and bytes of an answer, as one text; of a failure its status and message. */
  async of(reading: Reading, query: Record<string, string>, id?: string): Promise<string> {
    const url = `/records?${new URLSearchParams(query)}`;
    const request = { url, originalUrl: url, params: { id }, headers: {} } as unknown as Request;
    const headers: Record<string, unknown> = {};
    let body = '';
    const response = {
      statusCode: 200,
      setHeader: (name: string, value: unknown) => {
        headers[name.toLowerCase()] = value;
      },
      end: (text: string | Buffer) => {
        body = String(text);
      },
    };
    try {
      await this.#controller[reading](request, response as unknown as Response);
    } catch (error) {
      if (!(error instanceof BaseException)) throw error;
      return `${error.statusCode} ${error.message} ${JSON.stringify(error.details)}`;
    }
    return `${response.statusCode} ${JSON.stringify(headers)} ${body}`;
  }
}
