import type { Request, Response } from 'express';
import { parseBody, sendData, sendNoContent } from '../../chassis/index.ts';
import { login, refresh, register } from './auth.schema.ts';
import type { AuthService } from './auth.service.ts';

/** The routes of registration and sessions. Answers that carry tokens are not for caches (RFC 6749, 5.1). */
export class AuthController {
  readonly #service: AuthService;

  constructor({ authService }: Pick<Slipway.Cradle, 'authService'>) {
    this.#service = authService;
  }

  /** POST /register: 201 with the new user; 409 when the address is taken. */
  async register(request: Request, response: Response): Promise<void> {
    sendData(response, 201, await this.#service.register(parseBody(register, request.body)));
  }

  /** POST /login: 200 with tokens, 401 when address or password is wrong. */
  async login(request: Request, response: Response): Promise<void> {
    const tokens = await this.#service.login(parseBody(login, request.body));
    sendData(response.set('Cache-Control', 'no-store'), 200, tokens);
  }

  /** POST /refresh: 200 with new tokens, 401 when the refresh token does not hold. */
  async refresh(request: Request, response: Response): Promise<void> {
    const tokens = await this.#service.refresh(parseBody(refresh, request.body).refreshToken);
    sendData(response.set('Cache-Control', 'no-store'), 200, tokens);
  }

  /** POST /logout: 204, also for a refresh token that nobody knows. */
  async logout(request: Request, response: Response): Promise<void> {
    await this.#service.logout(parseBody(refresh, request.body).refreshToken);
    sendNoContent(response);
  }
}
