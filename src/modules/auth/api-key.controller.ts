import type { Request, Response } from 'express';
import { NotFoundException, parseBody, sendData, sendNoContent, z } from 'slipway';
import { createApiKey } from './api-key.schema.ts';
import type { ApiKeyService } from './api-key.service.ts';
import { callerOf } from './caller.context.ts';

/** In its one spelling, by which the keys in use are known. */
const uuid = z.uuid().toLowerCase();

/** The routes of the caller's own API keys. */
export class ApiKeyController {
  readonly #service: ApiKeyService;

  constructor({ apiKeyService }: Pick<Slipway.Cradle, 'apiKeyService'>) {
    this.#service = apiKeyService;
  }

  /** GET /api-keys: 200 with the keys, without their secrets. */
  async list(_request: Request, response: Response): Promise<void> {
    sendData(response, 200, await this.#service.list(callerOf().userId));
  }

  /** POST /api-keys: 201 with the new key, which no cache may keep; 401 when the password was given too long ago. */
  async create(request: Request, response: Response): Promise<void> {
    const key = await this.#service.create(callerOf(), parseBody(createApiKey, request.body));
    sendData(response.set('Cache-Control', 'no-store'), 201, key);
  }

  /** DELETE /api-keys/:id: 204; 404 for a key that is not the caller's. */
  async revoke(request: Request<{ id: string }>, response: Response): Promise<void> {
    const id = uuid.safeParse(request.params.id);
    if (!id.success) throw new NotFoundException('API key not found');
    await this.#service.revoke(id.data, callerOf().userId);
    sendNoContent(response);
  }
}
