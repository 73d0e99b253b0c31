import { Badge } from '@mantine/core'
import type { AdminUser } from '../api/types.ts'
import { StatusBadge } from '../components/plan-badge.tsx'
import { t } from '../language/text.ts'

/** Badges for the subscription, and for unusual states of the account. */
export function StateBadges({ customer }: { customer: AdminUser }) {
  const { subscription_status, is_active, is_verified, is_superuser } = customer
  return (
    <>
      {subscription_status !== 'free' && <StatusBadge status={subscription_status} />}
      {!is_active && <Badge color="red">{t('Suspended')}</Badge>}
      {!is_verified && <Badge color="gray">{t('Not verified')}</Badge>}
      {is_superuser && <Badge color="brass">{t('Superuser')}</Badge>}
    </>
  )
}
