import { type Request, Router } from 'express';
import { addressOf, asyncHandler, defineRoutes, handle, publicAccess, rateLimit } from 'slipway';
import { deviceOf, loginOf, noteKnownAddress } from './caller.context.ts';

/**
 * @openapi
 * /register:
 *   post:
 *     operationId: register
 *     summary: Register
 *     x-body: Register
 *     x-data: Account
 *     responses: { 201: { description: The new user }, 409: { description: The address cannot be registered } }
 * /login:
 *   post:
 *     operationId: login
 *     summary: Log in
 *     x-body: Login
 *     x-data: Tokens
 *     responses: { 200: { description: Tokens }, 401: { description: The address or the password is wrong } }
 * /refresh:
 *   post:
 *     operationId: refresh
 *     summary: Exchange a refresh token, which is good for one use, for new tokens
 *     x-body: Refresh
 *     x-data: Tokens
 *     responses: { 200: { description: Tokens }, 401: { description: "The token is unknown, used, revoked or expired" } }
 * /password:
 *   put:
 *     operationId: changePassword
 *     summary: Change the own password, which ends all sessions of the account and opens a new one
 *     x-body: ChangePassword
 *     x-data: Tokens
 *     responses: { 200: { description: Tokens of the new session } }
 * /reauthenticate:
 *   post:
 *     operationId: reauthenticate
 *     summary: Give the password again, which sensitive changes ask for
 *     description: "What asks for it answers 401 with `WWW-Authenticate: Bearer error=\"insufficient_user_authentication\"` (RFC 9470)."
 *     x-body: Reauthenticate
 *     responses: { 204: { description: Confirmed } }
 */
export default defineRoutes(({ authController, sessionService, auth, settings }) => {
  const router = Router();
  const perMinute = (name: string) => rateLimit({ name, points: settings.AUTH_REQUESTS_PER_MINUTE, seconds: 60 });
  // Quotas of an account are worth nothing to who makes accounts without end.
  const perDay = rateLimit({ name: 'register-day', points: settings.AUTH_REGISTRATIONS_PER_DAY, seconds: 86_400 });
  const tries = { points: settings.AUTH_LOGINS_PER_ACCOUNT, seconds: 300 };
  const perAddress = rateLimit({ name: 'login-account', ...tries, by: addressAndAccount });
  const perUser = rateLimit({ name: 'password', ...tries, by: 'user' });

  // Who tries one account from many addresses uses up what strangers have; the owner's addresses keep a share each.
  const findAddress = asyncHandler(async (request, _response, next) => {
    const { email } = loginOf(request);
    if (await sessionService.isKnownAddress(email, addressOf(request))) noteKnownAddress(request);
    next();
  });
  const everywhere = rateLimit({
    name: 'login-everywhere',
    points: settings.AUTH_LOGINS_PER_ACCOUNT_AND_HOUR,
    seconds: 3600,
    // What is left would tell strangers how often others tried an account, and whether it is known at their address.
    headers: false,
    by: (request) => (deviceOf(request).isKnown ? addressAndAccount(request) : loginOf(request).email),
  });

  router.post('/register', publicAccess, perMinute('register'), perDay, handle(authController, 'register'));
  router.post(
    '/login',
    publicAccess,
    perMinute('login'),
    perAddress,
    findAddress,
    everywhere,
    handle(authController, 'login'),
  );
  router.post('/refresh', publicAccess, perMinute('refresh'), handle(authController, 'refresh'));
  router.put('/password', auth.session(), perUser, handle(authController, 'changePassword'));
  router.post('/reauthenticate', auth.session(), perUser, handle(authController, 'reauthenticate'));
  return router;
});

/** As the schema gives the address, so that no spelling has a count of its own. */
function addressAndAccount(request: Request): string {
  return `${addressOf(request)} ${loginOf(request).email}`;
}
