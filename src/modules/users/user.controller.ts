import type { Request, Response } from 'express';
import { type AnyListPolicy, ResourceController, sendData, uploadedFile } from 'slipway';
import { isAdmin, isSelfOrAdmin } from './caller.access.ts';
import { createUser, publicUserList, updateUser, user, userList } from './user.schema.ts';
import type { UserService } from './user.service.ts';

/** The routes of users. Private fields are for the user itself and administrators; for others they do not exist. */
export class UserController extends ResourceController<UserService> {
  readonly schemas = {
    record: user,
    create: createUser,
    update: updateUser,
    list: publicUserList,
    otherLists: [userList],
  };

  /** POST /users/:id/avatar: 200 with the user, whose picture is the file that was received. */
  async setAvatar(request: Request, response: Response): Promise<void> {
    const { name } = uploadedFile(request);
    sendData(response, 200, await this.service.setAvatar(this.idOf(request), name, userList.select));
  }

  protected override policyFor(request: Request): AnyListPolicy {
    const { id } = request.params;
    return isAdmin() || (typeof id === 'string' && isSelfOrAdmin(id)) ? userList : publicUserList;
  }
}
