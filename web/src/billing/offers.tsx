import { Card, Switch, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import type { Subscription } from '../api/types.ts'
import { storeSubscription } from './plan-actions.tsx'

/** Off until it is asked for. What concerns the plan itself is written in any case. */
export function Offers({ subscription }: { subscription: Subscription }) {
  const save = useMutation({
    mutationFn: (byMail: boolean) => api.patch('/api/billing/offers', { by_mail: byMail }),
    onSuccess: storeSubscription,
  })
  return (
    <Card component="section" aria-label="Offers by mail">
      <Switch
        label="Offers by mail"
        description="Now and then, for instance when a plan of yours has ended. What concerns your plan and payments is written in any case."
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
