import { type Db, forUpdate } from '#platform/db/db.ts'
import { unauthenticated } from '#platform/http/gate.ts'
import { Problem } from '#platform/problem.ts'
import type { IdentityDeps } from './deps.ts'
import { countAttempt } from './sign-in-limits.ts'
import type { User } from './users.ts'

/**
 * Asks a signed-in user for the password before something weighty. Counts as a sign-in attempt on the account: a stolen
 * access token is no way to guess at leisure. True for an account without a password, where there is nothing to ask.
 * @throws Problem 400 with `message`, 429.
 */
export async function confirmPassword(
  deps: IdentityDeps,
  user: User,
  password: string | undefined,
  { message, address }: { message: string; address: string },
): Promise<void> {
  if (user.password_hash === null) return
  await countAttempt(deps, { account: user.email_key, address })
  const { right } = await deps.hasher.verify(password ?? '', user.password_hash)
  if (!right) throw new Problem('password_wrong', 400, message)
}

/**
 * Locks the user whose password was confirmed. A hash takes its time, and a storm makes it seconds: a password that was
 * changed in them, to shut someone out, is no longer right. @throws Problem 400 then, 401 when the user is gone.
 */
export async function lockConfirmed(tx: Db, confirmed: User): Promise<User> {
  const user = await forUpdate(tx, tx.selectFrom('users').selectAll().where('id', '=', confirmed.id)).executeTakeFirst()
  if (!user?.is_active) throw unauthenticated()
  if (user.password_hash !== confirmed.password_hash) throw new Problem('password_wrong', 400, 'Incorrect password')
  return user
}
