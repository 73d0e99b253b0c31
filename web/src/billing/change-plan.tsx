import { Box, Button, Group, Modal, Skeleton, Table, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import type { ChangePreview } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { formatDay, formatMoney } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { storeSubscription } from './plan-actions.tsx'
import { openCheckout } from './processor.ts'

type ChangePlanProps = { priceId: string; name: string; opened: boolean; onClose: () => void }

/** What a change costs now and later, and the button that does it. */
export function ChangePlan({ priceId, name, opened, onClose }: ChangePlanProps) {
  const preview = useQuery({
    queryKey: ['change', priceId],
    queryFn: () => api.post('/api/billing/change/preview', { price_id: priceId }),
    enabled: opened,
    // What is due grows less by the second: each time it is opened it is asked for anew.
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
    <Modal opened={opened} onClose={onClose} title={`Change to ${name}`}>
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
            <Group justify="flex-end" mt="lg">
              <Button variant="default" onClick={onClose} data-autofocus>
                Not now
              </Button>
              <Button loading={change.isPending} onClick={() => change.mutate(data.proration_at)}>
                {data.due_now > 0
                  ? `Pay ${formatMoney(data.due_now, data.currency)} and change`
                  : 'Change the plan'}
              </Button>
            </Group>
          </>
        )}
      </Loaded>
    </Modal>
  )
}

/** Where the bank can ask: a checkout of the other plan, which takes the place of the one that runs. */
function AtCheckout({ priceId }: { priceId: string }) {
  const checkout = useMutation({ mutationFn: () => openCheckout(priceId) })
  return (
    <>
      <Text size="sm" my="xs">
        At the checkout your bank can ask you. What is left of your plan is then credited to your
        next payments.
      </Text>
      <Button
        variant="default"
        loading={checkout.isPending || checkout.isSuccess}
        onClick={() => checkout.mutate()}
      >
        Go to the checkout
      </Button>
      {checkout.isError && <FormProblem problem={checkout.error} />}
    </>
  )
}

function Due({ preview, name }: { preview: ChangePreview; name: string }) {
  const {
    lines,
    currency,
    due_now: now,
    due_later: later,
    due_later_at: laterAt,
    interval,
  } = preview
  const isLater = Date.parse(preview.takes_effect) > Date.now() + 60_000
  return (
    <>
      <Text>
        {isLater
          ? `What you have now is paid until ${formatDay(preview.takes_effect)}, and stays open until then. ${name} follows.`
          : `${name} opens at once.`}
      </Text>
      <Table mt="sm">
        <Table.Tbody>
          {lines.map(({ description, amount }) => (
            <Table.Tr key={`${description} ${amount}`}>
              <Table.Td>{description}</Table.Td>
              <Table.Td ta="right">{formatMoney(amount, currency)}</Table.Td>
            </Table.Tr>
          ))}
          <Table.Tr>
            <Table.Th>Due now</Table.Th>
            <Table.Th ta="right">{formatMoney(now, currency)}</Table.Th>
          </Table.Tr>
          {later !== null && laterAt !== null && (
            <Table.Tr>
              <Table.Td>
                From {formatDay(laterAt)}, each {interval}
              </Table.Td>
              <Table.Td ta="right">{formatMoney(later, currency)}</Table.Td>
            </Table.Tr>
          )}
        </Table.Tbody>
      </Table>
      <Text c="dimmed" size="sm" mt="xs">
        Later amounts are before discounts and taxes.
      </Text>
    </>
  )
}
