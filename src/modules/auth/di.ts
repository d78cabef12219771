import { type Provided, provide } from '../../chassis/index.ts';
import { AccessTokenService } from './access-token.service.ts';
import { AccountRepository } from './account.repository.ts';
import { AuthController } from './auth.controller.ts';
import { AuthGuard } from './auth.guard.ts';
import { AuthService } from './auth.service.ts';
import { PasswordService } from './password.service.ts';
import { RefreshTokenRepository } from './refresh-token.repository.ts';
import { RefreshTokenService } from './refresh-token.service.ts';

const dependencies = {
  auth: AuthGuard,
  authController: AuthController,
  authService: AuthService,
  accountRepository: AccountRepository,
  passwordService: PasswordService,
  accessTokenService: AccessTokenService,
  refreshTokenRepository: RefreshTokenRepository,
  refreshTokenService: RefreshTokenService,
};

export const registerDependencies = provide(dependencies);

declare global {
  namespace Slipway {
    interface Cradle extends Provided<typeof dependencies> {}
  }
}
