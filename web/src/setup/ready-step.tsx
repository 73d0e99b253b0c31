import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconExternalLink } from '@tabler/icons-react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { SetupState } from '../api/types.ts'
import { LinkButton } from '../components/links.tsx'
import { t } from '../language/text.ts'
import { Panel } from '../shop/facts.tsx'
import { useTierNames } from '../shop/products-query.ts'

const LOOK_MS = 2_000

const newestOrder = queryOptions({
  queryKey: ['shop', 'orders', 'newest'],
  queryFn: async ({ signal }) => {
    const { purchases } = await api.get('/api/admin/purchases', { query: { limit: 1 }, signal })
    return purchases[0] ?? null
  },
  staleTime: 0,
})

/** Ends the setup with a purchase on the operator's own home page. */
export function ReadyStep({ state: { payments, storefront_url } }: { state: SetupState }) {
  return (
    <Panel title={t('Ready')}>
      {payments.state === 'off' ? (
        <Text size="sm">{t('Save a Stripe key first. Without one, nobody can buy.')}</Text>
      ) : (
        <Stack gap="sm" align="flex-start">
          <Text size="sm">
            {payments.state === 'live'
              ? t(
                  'Buy one of your own products and refund it afterwards, because this key charges real cards.',
                )
              : t(
                  'Buy one of your own products with the card 4242 4242 4242 4242. No money moves.',
                )}
          </Text>
          <TestPurchase homeUrl={storefront_url} />
        </Stack>
      )}
    </Panel>
  )
}

/** Opens the home page, and shows the purchase as soon as the service has recorded it. */
function TestPurchase({ homeUrl }: { homeUrl: string }) {
  /** The newest order when the operator left for the home page; undefined before. */
  const [before, setBefore] = useState<string | null | undefined>(undefined)
  const newest = useQuery({
    ...newestOrder,
    refetchInterval: ({ state }) =>
      before === undefined || (state.data && state.data.id !== before) ? false : LOOK_MS,
  })
  const nameTier = useTierNames()
  const order = newest.data
  return (
    <>
      <Button
        component="a"
        href={homeUrl}
        target="_blank"
        rel="noreferrer"
        rightSection={<IconExternalLink size={16} aria-hidden />}
        onClick={() => setBefore(order?.id ?? null)}
      >
        {t('Open your home page')}
      </Button>
      <div role="status">
        {before !== undefined &&
          (order && order.id !== before ? (
            <Alert
              color="pine"
              icon={<IconCircleCheck size={20} aria-hidden />}
              title={t('Your first sale has arrived')}
            >
              <Stack gap="sm" align="flex-start">
                <Text size="sm">
                  {t(
                    '{0} bought {1}. The license key is in the email.',
                    order.email,
                    nameTier(order.tier),
                  )}
                </Text>
                <LinkButton to="/shop/orders/$id" params={{ id: order.id }} variant="default">
                  {t('Open the order')}
                </LinkButton>
              </Stack>
            </Alert>
          ) : (
            <Text size="sm" c="dimmed">
              {t('Waiting for your purchase…')}
            </Text>
          ))}
      </div>
    </>
  )
}
