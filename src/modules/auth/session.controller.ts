import type { Request, Response } from 'express';
import { NotFoundException, parseBody, sendData, sendNoContent, z } from 'slipway';
import { logoutAll, refresh } from './auth.schema.ts';
import type { AuthService } from './auth.service.ts';
import { callerOf } from './caller.context.ts';
import type { SessionService } from './session.service.ts';

const uuid = z.uuid();

/** The routes of the caller's own sessions. */
export class SessionController {
  readonly #service: SessionService;
  readonly #auth: AuthService;

  constructor({ sessionService, authService }: Pick<Slipway.Cradle, 'sessionService' | 'authService'>) {
    this.#service = sessionService;
    this.#auth = authService;
  }

  /** GET /sessions: 200 with the sessions that live. */
  async list(_request: Request, response: Response): Promise<void> {
    const { userId, sessionId } = callerOf();
    sendData(response, 200, await this.#service.list(userId, sessionId));
  }

  /** DELETE /sessions/:id: 204; 404 for a session that is not the caller's. */
  async end(request: Request<{ id: string }>, response: Response): Promise<void> {
    const { id } = request.params;
    if (!uuid.safeParse(id).success) throw new NotFoundException('Session not found');
    await this.#service.end(id, callerOf().userId);
    sendNoContent(response);
  }

  /** POST /logout: 204, also for an unknown refresh token. */
  async logout(request: Request, response: Response): Promise<void> {
    await this.#service.logout(parseBody(refresh, request.body).refreshToken);
    sendNoContent(response);
  }

  /** POST /logout-all: 204, and no session of the caller is left, nor an API key where the body says so. */
  async logoutAll(request: Request, response: Response): Promise<void> {
    // Without a body it is undefined; null was sent, and is refused as anywhere.
    const { body = {} } = request;
    await this.#auth.logoutAll(callerOf().userId, parseBody(logoutAll, body));
    sendNoContent(response);
  }
}
