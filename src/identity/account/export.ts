import { collectAudit } from '#audit/audit.ts'
import type { Platform } from '#platform/platform.ts'
import type { Collected } from '#platform/room.ts'
import type { IdentityNeeds } from '../deps.ts'
import type { User } from '../users.ts'
import { writeZip } from './zip.ts'

export type ExportDeps = Pick<Platform, 'db' | 'clock'> & Pick<IdentityNeeds, 'rooms'>

/** The fields of the specified export. */
export function exportAccount({ clock }: Pick<Platform, 'clock'>, user: User) {
  return {
    id: user.id,
    email: user.email,
    full_name: user.full_name,
    avatar_url: user.avatar_url,
    locale: user.locale,
    oauth_provider: user.oauth_provider,
    is_verified: user.is_verified,
    subscription_status: user.subscription_status,
    subscription_tier: user.subscription_tier,
    created_at: user.created_at,
    updated_at: user.updated_at,
    last_login_at: user.last_login_at,
    exported_at: clock.now(),
  }
}

/**
 * Returns all data of a user from every room as a ZIP with one JSON file per kind. The ZIP is built
 * while it is sent, so a large collection is never in memory as a whole.
 */
export function exportEverything(deps: ExportDeps, user: User): AsyncGenerator<Buffer> {
  return writeZip(collectFiles(deps, user), new Date(deps.clock.ms()))
}

async function* collectFiles(
  deps: ExportDeps,
  user: User,
): AsyncGenerator<{ name: string; content: Buffer }> {
  yield* written(await ownFiles(deps, user))
  for (const room of deps.rooms) {
    if (room.collect) yield* written(await room.collect(deps.db, user.id))
  }
}

async function* written(files: Collected) {
  for (const [name, value] of Object.entries(files)) {
    const content = typeof value === 'function' ? await value() : value
    if (Buffer.isBuffer(content)) yield { name, content }
    else
      yield { name: `${name}.json`, content: Buffer.from(`${JSON.stringify(content, null, 2)}\n`) }
  }
}

async function ownFiles(deps: Pick<Platform, 'db' | 'clock'>, user: User): Promise<Collected> {
  const { db } = deps
  return {
    account: {
      ...exportAccount(deps, user),
      is_active: user.is_active,
      is_superuser: user.is_superuser,
      tier_override: user.tier_override,
      tier_override_until: user.tier_override_until,
      processor_customer_id: user.processor_customer_id,
    },
    sessions: await db
      .selectFrom('sessions')
      .select([
        'id',
        'user_agent',
        'ip_address',
        'created_at',
        'last_used_at',
        'expires_at',
        'revoked_at',
      ])
      .where('user_id', '=', user.id)
      .orderBy('created_at', 'desc')
      .execute(),
    devices: await db
      .selectFrom('user_devices')
      .select(['kind', 'first_seen_at', 'last_seen_at'])
      .where('user_id', '=', user.id)
      .execute(),
    mailed_links: (
      await db
        .selectFrom('one_time_tokens')
        .select(['purpose', 'data_json', 'created_at', 'expires_at', 'spent_at', 'voided_at'])
        .where('user_id', '=', user.id)
        .where('purpose', 'in', ['verify', 'reset', 'undo-email'])
        .orderBy('created_at', 'desc')
        .execute()
    ).map(({ data_json, ...link }) => ({ ...link, about: data_json })),
    sign_in_providers: await db
      .selectFrom('oauth_links')
      .select(['provider', 'subject', 'email', 'linked_at'])
      .where('user_id', '=', user.id)
      .execute(),
    passkeys: await db
      .selectFrom('passkeys')
      .select(['id', 'name', 'created_at', 'last_used_at'])
      .where('user_id', '=', user.id)
      .execute(),
    two_factor: { enabled: user.is_totp_on },
    security_events: await collectAudit(db, user.id),
  }
}
