import type { AuditAction } from '#audit/actions.ts'
import type { AuditEntry } from '../api/types.ts'
import { t } from '../language/text.ts'

export const EVENT_LABELS: Readonly<Record<AuditAction, string>> = {
  'sign-in': t('Signed in'),
  'sign-in.failed': t('Sign-in failed'),
  'sign-in.codes-guessed': t('Wrong two-factor codes after the correct password'),
  'sign-in.closed': t('Too many wrong codes: password sign-in blocked on unknown devices'),
  registered: t('Account created'),
  'brand.changed': t('Brand changed'),
  invited: t('Invitation sent'),
  'invitation.withdrawn': t('Invitation withdrawn'),
  'account.deleted': t('Account deleted'),
  'email.verified': t('Email address verified'),
  'email.changed': t('Email address changed'),
  'email.restored': t('Email address change undone'),
  'password.changed': t('Password changed'),
  'password.reset': t('Password reset'),
  'password.removed': t('Password removed'),
  'payment.refunded': t('Payment of a subscription refunded'),
  'totp.on': t('Two-factor authentication turned on'),
  'totp.off': t('Two-factor authentication turned off'),
  'passkey.added': t('Passkey added'),
  'passkey.removed': t('Passkey removed'),
  'provider.linked': t('Sign-in provider linked'),
  'provider.unlinked': t('Sign-in provider unlinked'),
  'session.ended': t('Session ended'),
  'sessions.ended': t('All other sessions ended'),
  'user.signed-out': t('Signed out everywhere by a superuser'),
  'session.replayed': t('Session ended: an old token was used again'),
  'api-key.made': t('API key created'),
  'api-key.changed': t('API key changed'),
  'api-key.rotated': t('API key rotated'),
  'api-key.revoked': t('API key revoked'),
  'api-keys.revoked': t('All API keys revoked'),
  'subscription.changed': t('Subscription changed'),
  'billing.deal_made': t('Special price offered'),
  'billing.synced': t('Billing reconciled'),
  'license.rotated': t('License key rotated'),
  'purchase.activations_set': t('Activation limit of a purchase changed'),
  'purchase.claimed': t('Purchase added to an account'),
  'purchase.downloads_reset': t('Downloads of a purchase reset'),
  'purchase.extended': t('Updates of a purchase extended'),
  'purchase.machine_released': t('Machine of a purchase released'),
  'purchase.refunded': t('Purchase refunded'),
  'purchase.resent': t('License key sent again'),
  'purchase.revoked': t('Purchase revoked'),
  'contact.assigned': t('Message assigned'),
  'contact.closed': t('Message closed'),
  'contact.reopened': t('Message reopened'),
  'contact.replied': t('Message answered'),
  'discount.deleted': t('Promotion code deleted'),
  'discount.made': t('Promotion code created'),
  'plan.changed': t('Plan changed by a superuser'),
  'plan.confirmation-sent': t('Plan change sent to the customer for confirmation'),
  'product.changed': t('Product changed'),
  'product.made': t('Product created'),
  'product.retired': t('Product no longer sold'),
  'release.deleted': t('Draft of a release deleted'),
  'release.published': t('Release published'),
  'release.uploaded': t('Release uploaded'),
  'release.withdrawn': t('Release withdrawn'),
  'purchase.withdrawn': t('Withdrawn from a purchase'),
  'purchase.restored': t('Purchase restored'),
  'switch.off': t('Switched off'),
  'switch.on': t('Switched on'),
  'job.deleted': t('Failed job deleted'),
  'job.retried': t('Job retried'),
  'jobs.retried': t('All failed jobs retried'),
  'settings.saved': t('Settings changed'),
  'superuser.added': t('Made a superuser'),
  'user.changed': t('Changed by a superuser'),
  'view.started': t('Viewed by support, read-only'),
  'view.ended': t('View by support ended'),
}

const REASONS: Readonly<Record<string, string>> = {
  credentials_wrong: t('Wrong email address or password'),
  two_factor_code_wrong: t('Wrong two-factor code'),
  emailed_code_wrong: t('Wrong emailed code'),
  passkey_not_recognised: t('Unknown passkey'),
  passkey_not_verified: t('Passkey without PIN or fingerprint'),
  password_reset_required: t('Password reset required'),
}

/** Returns the reason of an entry: a superuser's own words, or those of an error's code. */
export function readReason({ data }: Pick<AuditEntry, 'data'>): string | null {
  const reason = data?.reason
  return typeof reason === 'string' ? (REASONS[reason] ?? reason) : null
}

/** Failed sign-ins within a short time are one entry. */
export function describeEvent({ action, data }: AuditEntry): string {
  const attempts = Number(data?.attempts ?? 1)
  if (action === 'sign-in.failed' && attempts > 1) return t('{0} failed sign-ins', attempts)
  // A service of another version may record more.
  return (EVENT_LABELS as Readonly<Record<string, string>>)[action] ?? action
}

export function readAddresses({ data }: AuditEntry): string[] {
  const { address, addresses } = data ?? {}
  const all = Array.isArray(addresses) ? addresses : [address]
  return all.filter((one) => typeof one === 'string')
}
