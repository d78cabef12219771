import { type Provided, provide, resource } from 'slipway';
import { AccessTokenService } from './access-token.service.ts';
import { AccountProvider } from './account.provider.ts';
import { AccountRepository } from './account.repository.ts';
import { AdministrationService } from './administration.service.ts';
import { ApiKeyController } from './api-key.controller.ts';
import { ApiKeyProvider } from './api-key.provider.ts';
import { ApiKeyRepository } from './api-key.repository.ts';
import { ApiKeyService } from './api-key.service.ts';
import { AuditEventController } from './audit-event.controller.ts';
import { AuditEventRepository } from './audit-event.repository.ts';
import { AuditEventService } from './audit-event.service.ts';
import { AuthController } from './auth.controller.ts';
import { AuthGuard } from './auth.guard.ts';
import { AuthService } from './auth.service.ts';
import { PasswordService } from './password.service.ts';
import { SessionController } from './session.controller.ts';
import { SessionRepository } from './session.repository.ts';
import { SessionService } from './session.service.ts';

const dependencies = {
  auth: AuthGuard,
  accountProvider: AccountProvider,
  apiKeyController: ApiKeyController,
  apiKeyProvider: ApiKeyProvider,
  apiKeyRepository: ApiKeyRepository,
  apiKeyService: ApiKeyService,
  authController: AuthController,
  authService: AuthService,
  accountRepository: AccountRepository,
  administrationService: AdministrationService,
  passwordService: PasswordService,
  accessTokenService: AccessTokenService,
  sessionController: SessionController,
  sessionRepository: SessionRepository,
  sessionService: SessionService,
  ...resource('auditEvent', {
    repository: AuditEventRepository,
    service: AuditEventService,
    controller: AuditEventController,
  }),
};

export const registerDependencies = provide(dependencies);

declare global {
  namespace Slipway {
    interface Cradle extends Provided<typeof dependencies> {}
  }
}
