// Invitations: a mailed link that allows its recipient to create an account when registration is
// restricted. Following the link proves that the address belongs to its reader.
import { recordAudit } from '#audit/audit.ts'
import { invitationEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { issueToken, type OneTimeTokenDeps, peekToken, spendToken } from '../one-time-tokens.ts'
import { identityProblem } from '../problems.ts'
import { emailKey, findUser, findUserByEmail } from '../users.ts'

type Invitation = { email: string }

/**
 * Mails a link that works once, within a week, in the language of the sender. @throws Problem 400 when the address has an account.
 */
export async function invite(
  deps: Pick<Platform, 'db' | 'clock' | 'config' | 'jobs' | 'secrets'>,
  actorId: string,
  email: string,
): Promise<void> {
  await transaction(deps.db, async (tx) => {
    if (await findUserByEmail(tx, email)) throw identityProblem('email_taken')
    const token = await issueToken(deps, tx, 'invitation', null, {
      email: emailKey(email),
    } satisfies Invitation)
    const { locale = null } = (await findUser(tx, actorId)) ?? {}
    const to = { id: null, email, full_name: null, locale }
    await sendMail(deps, tx, invitationEmail(deps.config, { to, token }))
    await recordAudit(tx, { actorId, action: 'invited', data: { email }, at: deps.clock.now() })
  })
}

export type OpenInvitation = { email: string; invited_at: Instant; expires_at: Instant }

/**
 * Lists open invitations, newest first: each address once, with its latest link. The list is short,
 * because superusers enter the addresses by hand.
 */
export async function listInvitations({
  db,
  clock,
}: Pick<Platform, 'db' | 'clock'>): Promise<OpenInvitation[]> {
  const rows = await openInvitations(db, clock.now())
    .orderBy('created_at', 'desc')
    .limit(LISTED_MAX)
    .execute()
  const byEmail = new Map<string, OpenInvitation>()
  for (const { data_json, created_at, expires_at } of rows) {
    const { email } = data_json as Invitation
    if (!byEmail.has(email)) byEmail.set(email, { email, invited_at: created_at, expires_at })
  }
  return [...byEmail.values()]
}

const LISTED_MAX = 1_000

/** Voids all invitations of the address. @throws Problem 404 when none is open. */
export async function withdrawInvitation(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  actorId: string,
  email: string,
): Promise<void> {
  await transaction(db, async (tx) => {
    if (!(await spendOpenInvitation({ clock }, tx, email)))
      throw identityProblem('invitation_not_found')
    await recordAudit(tx, {
      actorId,
      action: 'invitation.withdrawn',
      data: { email },
      at: clock.now(),
    })
  })
}

function openInvitations(db: Db, now: Instant) {
  return db
    .selectFrom('one_time_tokens')
    .select(['owner', 'hash', 'data_json', 'created_at', 'expires_at'])
    .where('user_id', 'is', null)
    .where('purpose', '=', 'invitation')
    .where('spent_at', 'is', null)
    .where('expires_at', '>', now)
}

/**
 * Checks an invitation without spending it. @throws Problem 403 `invitation_required` unless it is
 * open and for this address.
 */
export async function requireInvitation(
  deps: OneTimeTokenDeps,
  db: Db,
  token: string | undefined,
  email: string,
) {
  const known =
    token === undefined ? null : await peekToken<Invitation>(deps, db, 'invitation', token)
  if (known?.state !== 'open' || known.data.email !== emailKey(email))
    throw identityProblem('invitation_required')
}

/**
 * Spends an invitation. @throws Problem 403 `invitation_required` unless it was open and for this
 * address.
 */
export async function spendInvitation(
  deps: OneTimeTokenDeps,
  tx: Db,
  token: string | undefined,
  email: string,
) {
  const spent =
    token === undefined ? null : await spendToken<Invitation>(deps, tx, 'invitation', token)
  if (spent?.data.email !== emailKey(email)) throw identityProblem('invitation_required')
}

/**
 * Spends the invitation of a user who signs up through a provider that has verified the address.
 * Returns false when none was open.
 */
export async function spendOpenInvitation(
  { clock }: Pick<Platform, 'clock'>,
  tx: Db,
  email: string,
): Promise<boolean> {
  const open = await openInvitations(tx, clock.now()).execute()
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
