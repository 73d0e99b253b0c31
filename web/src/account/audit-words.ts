import type { AuditAction } from '#audit/actions.ts'
import type { AuditEntry } from '../api/types.ts'

export const EVENT_LABELS: Readonly<Record<AuditAction, string>> = {
  'sign-in': 'Signed in',
  'sign-in.failed': 'Sign-in failed',
  'sign-in.codes-guessed': 'Wrong two-factor codes after the correct password',
  'sign-in.closed': 'Too many wrong codes: password sign-in blocked on unknown devices',
  registered: 'Account created',
  'brand.changed': 'Brand changed',
  invited: 'Invitation sent',
  'invitation.withdrawn': 'Invitation withdrawn',
  'account.deleted': 'Account deleted',
  'email.verified': 'Email address verified',
  'email.changed': 'Email address changed',
  'email.restored': 'Email address change undone',
  'password.changed': 'Password changed',
  'password.reset': 'Password reset',
  'password.removed': 'Password removed',
  'payment.refunded': 'Payment of a subscription refunded',
  'totp.on': 'Two-factor authentication turned on',
  'totp.off': 'Two-factor authentication turned off',
  'passkey.added': 'Passkey added',
  'passkey.removed': 'Passkey removed',
  'provider.linked': 'Sign-in provider linked',
  'provider.unlinked': 'Sign-in provider unlinked',
  'session.ended': 'Session ended',
  'sessions.ended': 'All other sessions ended',
  'user.signed-out': 'Signed out everywhere by a superuser',
  'session.replayed': 'Session ended: an old token was used again',
  'api-key.made': 'API key created',
  'api-key.changed': 'API key changed',
  'api-key.rotated': 'API key rotated',
  'api-key.revoked': 'API key revoked',
  'api-keys.revoked': 'All API keys revoked',
  'subscription.changed': 'Subscription changed',
  'billing.deal_made': 'Special price offered',
  'billing.synced': 'Billing reconciled',
  'license.rotated': 'License key rotated',
  'purchase.activations_set': 'Activation limit of a purchase changed',
  'purchase.claimed': 'Purchase added to an account',
  'purchase.downloads_reset': 'Downloads of a purchase reset',
  'purchase.extended': 'Updates of a purchase extended',
  'purchase.machine_released': 'Machine of a purchase released',
  'purchase.refunded': 'Purchase refunded',
  'purchase.resent': 'License key sent again',
  'purchase.revoked': 'Purchase revoked',
  'contact.assigned': 'Message assigned',
  'contact.closed': 'Message closed',
  'contact.reopened': 'Message reopened',
  'contact.replied': 'Message answered',
  'discount.deleted': 'Promotion code deleted',
  'discount.made': 'Promotion code created',
  'plan.changed': 'Plan changed by a superuser',
  'product.changed': 'Product changed',
  'product.made': 'Product created',
  'product.retired': 'Product no longer sold',
  'release.deleted': 'Draft of a release deleted',
  'release.published': 'Release published',
  'release.uploaded': 'Release uploaded',
  'release.withdrawn': 'Release withdrawn',
  'purchase.withdrawn': 'Withdrawn from a purchase',
  'purchase.restored': 'Purchase restored',
  'switch.off': 'Switched off',
  'switch.on': 'Switched on',
  'job.deleted': 'Failed job deleted',
  'job.retried': 'Job retried',
  'settings.saved': 'Settings changed',
  'superuser.added': 'Made a superuser',
  'user.changed': 'Changed by a superuser',
  'view.started': 'Viewed by support, read-only',
  'view.ended': 'View by support ended',
}

/** Failed sign-ins within a short time are one entry. */
export function describeEvent({ action, data }: AuditEntry): string {
  const attempts = Number(data?.attempts ?? 1)
  if (action === 'sign-in.failed' && attempts > 1) return `${attempts} failed sign-ins`
  // A service of another version may record more.
  return (EVENT_LABELS as Readonly<Record<string, string>>)[action] ?? action
}

export function readAddresses({ data }: AuditEntry): string[] {
  const { address, addresses } = data ?? {}
  const all = Array.isArray(addresses) ? addresses : [address]
  return all.filter((one) => typeof one === 'string')
}
