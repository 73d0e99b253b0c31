import { Card, Switch, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import type { Subscription } from '../api/types.ts'
import { t } from '../language/text.ts'
import { storeSubscription } from './plan-actions.tsx'

/** Opt-in for marketing emails. Emails about the plan and payments are always sent. */
export function Offers({ subscription }: { subscription: Subscription }) {
  const save = useMutation({
    mutationFn: (byMail: boolean) => api.patch('/api/billing/offers', { by_mail: byMail }),
    onSuccess: storeSubscription,
  })
  return (
    <Card component="section" aria-label={t('Email offers')}>
      <Switch
        label={t('Email offers')}
        description={t(
          'Occasional offers, for example when a plan ends. We’ll always email you about your plan and payments.',
        )}
        checked={save.isPending ? save.variables : subscription.offers_by_mail}
        onChange={(event) => save.mutate(event.currentTarget.checked)}
      />
      {save.isError && (
        <Text c="var(--mantine-color-error)" size="sm" mt="xs" role="alert">
          {formatProblem(save.error)}
        </Text>
      )}
    </Card>
  )
}
