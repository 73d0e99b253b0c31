import { Badge, Button, Group, Skeleton, Table, Text } from '@mantine/core'
import { IconScale } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { Dispute } from '../api/types.ts'
import { Choice } from '../components/choice.tsx'
import { CopyText } from '../components/copy.tsx'
import { formatDay, formatTime, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { MoreRows } from '../components/more-rows.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import tableClasses from '../components/table.module.css'
import { Dialog } from '../conversations/parts/dialog.tsx'
import { t } from '../language/text.ts'
import { formatAmount } from './amount.ts'
import classes from './disputes.module.css'
import { writeEvidence } from './evidence.ts'
import { orderQuery } from './orders-query.ts'
import { useTierNames } from './products-query.ts'
import { describeCode } from './timeline.ts'

const route = getRouteApi('/app/desk/shop/disputes')
const PAGE = 50

export function DisputesPage() {
  const { open = false } = route.useSearch()
  const navigate = route.useNavigate()
  const [evidenceOf, setEvidenceOf] = useState<string | null>(null)
  const disputes = useInfiniteQuery({
    queryKey: ['shop', 'disputes', open],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/admin/disputes', {
        query: { limit: PAGE, cursor: pageParam, ...(open && { open }) },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
    placeholderData: (previous) => previous,
  })
  return (
    <Page
      title={t('Disputes')}
      lead={t('Answer a dispute at the payment processor, with the evidence from here.')}
      wide
      actions={
        <Choice
          label={t('Disputes')}
          value={open ? 'open' : 'all'}
          choices={[
            { value: 'all', label: t('All') },
            { value: 'open', label: t('Open|state') },
          ]}
          onChange={(value) => void navigate({ search: { open: value === 'open' || undefined } })}
        />
      }
    >
      <Loaded query={disputes} skeleton={<Skeleton h={320} />}>
        {({ pages }) => {
          const shown = pages.flatMap((page) => page.disputes)
          return shown.length === 0 ? (
            <Notice icon={IconScale} title={open ? t('No open disputes') : t('No disputes')}>
              {t('When a buyer’s bank disputes a payment, it appears here, and you get an email.')}
            </Notice>
          ) : (
            <>
              <DisputeTable disputes={shown} onEvidence={setEvidenceOf} />
              <MoreRows loaded={plural(shown.length, 'dispute')} query={disputes} />
            </>
          )
        }}
      </Loaded>
      {evidenceOf !== null && (
        <EvidenceDialog id={evidenceOf} onClose={() => setEvidenceOf(null)} />
      )}
    </Page>
  )
}

type DisputeTableProps = { disputes: Dispute[]; onEvidence: (orderId: string) => void }

function DisputeTable({ disputes, onEvidence }: DisputeTableProps) {
  const nameTier = useTierNames()
  return (
    <ScrollX label={t('Disputes')}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Buyer')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Product')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Status')}</Table.Th>
            <Table.Th visibleFrom="lg">{t('Reason')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Date')}</Table.Th>
            <Table.Th ta="right">{t('Amount')}</Table.Th>
            <Table.Th>
              <span className="visually-hidden">{t('Evidence')}</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {disputes.map((dispute) => (
            <DisputeRow
              key={dispute.id}
              dispute={dispute}
              nameTier={nameTier}
              onEvidence={onEvidence}
            />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function DisputeRow({
  dispute,
  nameTier,
  onEvidence,
}: Pick<DisputeTableProps, 'onEvidence'> & {
  dispute: Dispute
  nameTier: (tier: string) => string
}) {
  const { order_id, email, kind, tier, reason, created_at, amount_cents, currency } = dispute
  const product = tier === null ? describeCode(kind ?? t('Unknown')) : nameTier(tier)
  const buyer = email ?? t('Unknown buyer')
  return (
    <Table.Tr>
      <Table.Td>
        {order_id === null ? (
          buyer
        ) : (
          <Link to="/shop/orders/$id" params={{ id: order_id }} className={tableClasses.open}>
            {buyer}
          </Link>
        )}
        <Group gap="2px 8px" mt={2} hiddenFrom="md">
          <Text size="sm">{product}</Text>
          <DisputeBadge dispute={dispute} />
          <Text c="dimmed" size="sm">
            {formatDay(created_at)}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="md">{product}</Table.Td>
      <Table.Td visibleFrom="md">
        <DisputeBadge dispute={dispute} />
      </Table.Td>
      <Table.Td visibleFrom="lg">{reason === null ? '–' : describeCode(reason)}</Table.Td>
      <Table.Td visibleFrom="md" className={tableClasses.whole}>
        {formatTime(created_at)}
      </Table.Td>
      <Table.Td ta="right" className={tableClasses.whole}>
        {formatAmount(amount_cents, currency)}
      </Table.Td>
      <Table.Td ta="right" className={tableClasses.actions}>
        {order_id !== null && (
          <Button
            variant="default"
            size="compact-sm"
            aria-label={t('Evidence for {0}', buyer)}
            onClick={() => onEvidence(order_id)}
          >
            {t('Evidence')}
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function DisputeBadge({ dispute: { status, is_open } }: { dispute: Dispute }) {
  const color = is_open ? 'brass' : status === 'lost' ? 'red' : 'pine'
  return <Badge color={color}>{describeCode(status)}</Badge>
}

function EvidenceDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const nameTier = useTierNames()
  const order = useQuery(orderQuery(id))
  return (
    <Dialog title={t('Evidence')} onClose={onClose}>
      <Loaded query={order} skeleton={<Skeleton h={180} />}>
        {(data) => {
          const text = writeEvidence(data, nameTier)
          return (
            <>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard. */}
              <pre className={classes.evidence} tabIndex={0}>
                {text}
              </pre>
              <Group justify="flex-end" mt="md">
                <CopyText value={text}>{t('Copy')}</CopyText>
              </Group>
            </>
          )
        }}
      </Loaded>
    </Dialog>
  )
}
