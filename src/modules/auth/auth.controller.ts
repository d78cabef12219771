import type { Request, Response } from 'express';
import { parseBody, sendData, sendNoContent } from 'slipway';
import { changePassword, reauthenticate, refresh, register, type Tokens } from './auth.schema.ts';
import type { AuthService } from './auth.service.ts';
import { callerOf, deviceOf, loginOf } from './caller.context.ts';

/** The routes of registration, login and the own password. */
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
    sendTokens(response, await this.#service.login(loginOf(request), deviceOf(request)));
  }

  /** POST /refresh: 200 with new tokens, 401 when the refresh token is invalid. */
  async refresh(request: Request, response: Response): Promise<void> {
    const { refreshToken } = parseBody(refresh, request.body);
    sendTokens(response, await this.#service.refresh(refreshToken, deviceOf(request)));
  }

  /** PUT /password: 200 with the tokens of a new session, all others have ended; 400 when a password is wrong or too weak. */
  async changePassword(request: Request, response: Response): Promise<void> {
    const body = parseBody(changePassword, request.body);
    sendTokens(response, await this.#service.changePassword(callerOf().userId, body, deviceOf(request)));
  }

  /** POST /reauthenticate: 204, 400 when the password is wrong. */
  async reauthenticate(request: Request, response: Response): Promise<void> {
    const { password } = parseBody(reauthenticate, request.body);
    const { userId, sessionId } = callerOf();
    await this.#service.reauthenticate(userId, sessionId, password);
    sendNoContent(response);
  }
}

/** Answers that carry tokens are not for caches (RFC 6749, 5.1). */
function sendTokens(response: Response, tokens: Tokens): void {
  sendData(response.set('Cache-Control', 'no-store'), 200, tokens);
}
