import type { FastifyRequest } from 'fastify'
import { requireCaller } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import { unauthenticated } from '#platform/problems.ts'
import { findUser, findUserView, type User, type UserView } from './users.ts'

/** @throws Problem 401 when the user was deleted since authentication */
export async function ownUser(
  { db }: Pick<Platform, 'db'>,
  request: FastifyRequest,
): Promise<User> {
  const user = await findUser(db, requireCaller(request).userId)
  if (!user) throw unauthenticated()
  return user
}

/** @throws as `ownUser`. */
export async function ownView(
  { db, config }: Pick<Platform, 'db' | 'config'>,
  request: FastifyRequest,
): Promise<UserView> {
  const view = await findUserView(config.catalogue, db, requireCaller(request).userId)
  if (!view) throw unauthenticated()
  return view
}
