import { auditOf } from './audit.ts'
import type { IdentityDeps } from './deps.ts'
import { listSessions } from './sessions.ts'
import type { User } from './users.ts'
import { zipOf } from './zip.ts'

/** The fields of SPEC's export, no more. */
export function exportAccount({ clock }: Pick<IdentityDeps, 'clock'>, user: User) {
  return {
    id: user.id,
    email: user.email,
    full_name: user.full_name,
    avatar_url: user.avatar_url,
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

/** Everything the service holds about a user: this room's rows and what every other room adds, a JSON file each. */
export async function exportEverything(deps: IdentityDeps, user: User): Promise<Buffer> {
  const { db } = deps
  const files: Record<string, unknown> = {
    account: { ...exportAccount(deps, user), processor_customer_id: user.processor_customer_id },
    sessions: (await listSessions(deps, user.id, null)).map(({ current: _, ...session }) => session),
    devices: await db
      .selectFrom('user_devices')
      .select(['first_seen_at', 'last_seen_at'])
      .where('user_id', '=', user.id)
      .execute(),
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
    security_events: await auditOf(db, user.id),
  }
  for (const collect of deps.collect) Object.assign(files, await collect(db, user.id))

  const entries = Object.entries(files).map(([name, content]) => ({
    name: `${name}.json`,
    content: Buffer.from(`${JSON.stringify(content, null, 2)}\n`),
  }))
  return zipOf(entries, new Date(deps.clock.ms()))
}
