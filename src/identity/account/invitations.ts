// Invitations: a mailed link with which an address may make an account where not everybody may. Whoever follows it has
// shown that the address is theirs.
import { recordAudit } from '#audit/audit.ts'
import { invitationEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { issueToken, type OneTimeTokenDeps, peekToken, spendToken } from '../one-time-tokens.ts'
import { identityProblem } from '../problems.ts'
import { emailKey, findUserByEmail } from '../users.ts'

type Invitation = { email: string }

/** Mails a link that is good for a week, once. @throws Problem 400 when there is such an account. */
export async function invite(
  deps: Pick<Platform, 'db' | 'clock' | 'config' | 'jobs' | 'secrets'>,
  actorId: string,
  email: string,
): Promise<void> {
  await transaction(deps.db, async (tx) => {
    if (await findUserByEmail(tx, email)) throw identityProblem('email_taken')
    const token = await issueToken(deps, tx, 'invitation', null, { email: emailKey(email) } satisfies Invitation)
    await sendMail(deps, tx, invitationEmail(deps.config, { to: email, name: null, token }))
    await recordAudit(tx, { actorId, action: 'invited', data: { email }, at: deps.clock.now() })
  })
}

/** Looks without spending. @throws Problem 403 `invitation_required` unless it is open and for this address. */
export async function requireInvitation(deps: OneTimeTokenDeps, db: Db, token: string | undefined, email: string) {
  const known = token === undefined ? null : await peekToken<Invitation>(deps, db, 'invitation', token)
  if (known?.state !== 'open' || known.data.email !== emailKey(email)) throw identityProblem('invitation_required')
}

/** @throws Problem 403 `invitation_required` unless it was open and for this address. */
export async function spendInvitation(deps: OneTimeTokenDeps, tx: Db, token: string | undefined, email: string) {
  const spent = token === undefined ? null : await spendToken<Invitation>(deps, tx, 'invitation', token)
  if (spent?.data.email !== emailKey(email)) throw identityProblem('invitation_required')
}

/** For who comes through a provider, which vouches for the address. @returns whether there was an open one. */
export async function spendInvitationOf({ clock }: Pick<Platform, 'clock'>, tx: Db, email: string): Promise<boolean> {
  const open = await tx
    .selectFrom('one_time_tokens')
    .select(['owner', 'hash', 'data_json'])
    .where('user_id', 'is', null)
    .where('purpose', '=', 'invitation')
    .where('spent_at', 'is', null)
    .where('expires_at', '>', clock.now())
    .execute()
  const own = open.filter(({ data_json }) => (data_json as Invitation).email === emailKey(email))
  for (const { owner, hash } of own) {
    await tx
      .updateTable('one_time_tokens')
      .set({ spent_at: clock.now() })
      .where('owner', '=', owner)
      .where('hash', '=', hash)
      .execute()
  }
  return own.length > 0
}
