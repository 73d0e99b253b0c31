import { Box, Button, Skeleton, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import type { ChangePreview } from '../api/types.ts'
import confirmClasses from '../components/confirm.module.css'
import { FormProblem } from '../components/form-problem.tsx'
import { formatDay, formatMoney } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Dialog } from '../conversations/parts/dialog.tsx'
import { t } from '../language/text.ts'
import { ChangeCosts, readStart } from './change-preview.tsx'
import { storeSubscription } from './plan-actions.tsx'
import { openCheckout } from './processor.ts'

type ChangePlanProps = { priceId: string; name: string; onClose: () => void }

/** Shows the cost of a plan change now and later, and confirms it. */
export function ChangePlan({ priceId, name, onClose }: ChangePlanProps) {
  const preview = useQuery({
    queryKey: ['change', priceId],
    queryFn: () => api.post('/api/billing/change/preview', { price_id: priceId }),
    // The prorated amount shrinks every second, so each opening loads it again.
    gcTime: 0,
    staleTime: 0,
    refetchOnWindowFocus: false,
  })
  const change = useMutation({
    mutationFn: (at: number) =>
      api.post('/api/billing/change', { price_id: priceId, proration_at: at }),
    onSuccess: (subscription) => {
      storeSubscription(subscription)
      onClose()
    },
  })
  return (
    <Dialog title={t('Change to {0}', name)} onClose={onClose}>
      <Loaded query={preview} skeleton={<Skeleton h={120} />}>
        {(data) => (
          <>
            <Due preview={data} name={name} />
            {change.isError && (
              <Box mt="md">
                <FormProblem problem={change.error} />
                {change.error instanceof ApiProblem &&
                  change.error.code === 'payment_to_confirm' && <AtCheckout priceId={priceId} />}
              </Box>
            )}
            <div className={confirmClasses.buttons}>
              <Button variant="default" onClick={onClose}>
                {t('Cancel')}
              </Button>
              <Button loading={change.isPending} onClick={() => change.mutate(data.proration_at)}>
                {data.due_now > 0
                  ? t('Pay {0} and change plan', formatMoney(data.due_now, data.currency))
                  : t('Change plan')}
              </Button>
            </div>
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

/**
 * A checkout of the new plan, where the bank can ask for confirmation. It replaces the current
 * plan.
 */
function AtCheckout({ priceId }: { priceId: string }) {
  const checkout = useMutation({ mutationFn: () => openCheckout(priceId) })
  return (
    <>
      <Text size="sm" my="xs">
        {t('Your bank may ask you to confirm. Unused time is credited to your next invoices.')}
      </Text>
      <Button
        variant="default"
        loading={checkout.isPending || checkout.isSuccess}
        onClick={() => checkout.mutate()}
      >
        {t('Go to checkout')}
      </Button>
      {checkout.isError && <FormProblem problem={checkout.error} />}
    </>
  )
}

function Due({ preview, name }: { preview: ChangePreview; name: string }) {
  const start = readStart(preview)
  return (
    <>
      <Text>
        {start
          ? t('You keep your current plan until {0}. {1} starts then.', formatDay(start), name)
          : t('{0} starts immediately.', name)}
      </Text>
      <ChangeCosts preview={preview} />
    </>
  )
}
