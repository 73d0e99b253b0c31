import type { AuditAction } from '#audit/actions.ts'
import type { AuditEntry } from '../api/types.ts'

export const EVENT_LABELS: Readonly<Record<AuditAction, string>> = {
  'sign-in': 'Signed in',
  'sign-in.failed': 'Sign-in refused',
  'sign-in.codes-guessed': 'Wrong codes were tried after the right password',
  'sign-in.closed': 'Too many wrong codes: sign-in by password closed to unknown devices',
  registered: 'Account created',
  invited: 'Invitation sent',
  'invitation.withdrawn': 'Invitation withdrawn',
  'account.deleted': 'Account deleted',
  'email.verified': 'Email address verified',
  'email.changed': 'Email address changed',
  'email.restored': 'Change of the email address undone',
  'password.changed': 'Password changed',
  'password.reset': 'Password reset',
  'password.removed': 'Password removed',
  'totp.on': 'Two-factor authentication turned on',
  'totp.off': 'Two-factor authentication turned off',
  'passkey.added': 'Passkey added',
  'passkey.removed': 'Passkey removed',
  'provider.linked': 'Sign-in provider linked',
  'provider.unlinked': 'Sign-in provider unlinked',
  'session.ended': 'Session ended',
  'sessions.ended': 'All other sessions ended',
  'session.replayed': 'Session ended because an old token of it was used',
  'api-key.made': 'API key created',
  'api-key.changed': 'API key changed',
  'api-key.rotated': 'API key rotated',
  'api-key.revoked': 'API key revoked',
  'api-keys.revoked': 'All API keys revoked',
  'subscription.changed': 'Subscription changed',
  'billing.deal_made': 'Special price offered',
  'billing.synced': 'Billing reconciled',
  'purchase.revoked': 'Purchase revoked',
  'purchase.restored': 'Purchase restored',
  'switch.off': 'Switched off',
  'switch.on': 'Switched on',
  'job.retried': 'Job retried',
  'superuser.added': 'Made a superuser',
  'user.changed': 'Changed by a superuser',
}

/** Refused sign-ins in a short time are one entry. */
export function describeEvent({ action, data }: AuditEntry): string {
  const attempts = Number(data?.attempts ?? 1)
  if (action === 'sign-in.failed' && attempts > 1) return `${attempts} sign-ins refused`
  // A service of another version may record more.
  return (EVENT_LABELS as Readonly<Record<string, string>>)[action] ?? action
}

export function readAddresses({ data }: AuditEntry): string[] {
  const { address, addresses } = data ?? {}
  const all = Array.isArray(addresses) ? addresses : [address]
  return all.filter((one) => typeof one === 'string')
}
