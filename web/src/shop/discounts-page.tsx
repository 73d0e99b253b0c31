import { Button, Skeleton, Table } from '@mantine/core'
import { IconDiscount, IconPlus } from '@tabler/icons-react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { Discount } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { CopyIcon } from '../components/copy.tsx'
import { formatCount, formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import classes from '../components/table.module.css'
import { showToast } from '../components/toasts.tsx'
import { locale } from '../language/language.ts'
import { t } from '../language/text.ts'
import { formatAmount } from './amount.ts'
import { NewDiscount } from './new-discount.tsx'
import { useTierNames } from './products-query.ts'

const discountsQuery = queryOptions({
  queryKey: ['shop', 'discounts'],
  queryFn: ({ signal }) => api.get('/api/admin/discounts', { signal }),
})
const reload = () => queries.invalidateQueries({ queryKey: discountsQuery.queryKey })

export function DiscountsPage() {
  const discounts = useQuery(discountsQuery)
  const [isCreating, setIsCreating] = useState(false)
  const create = (
    <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setIsCreating(true)}>
      {t('Create code')}
    </Button>
  )
  return (
    <Page
      title={t('Discounts')}
      lead={t('Promotion codes. Buyers type them on the payment page or follow a link.')}
      wide
      actions={create}
    >
      <Loaded query={discounts} skeleton={<Skeleton h={320} />}>
        {(data) =>
          data.discounts.length === 0 ? (
            <Notice icon={IconDiscount} title={t('No promotion codes')}>
              {t('Create one to sell for less: to everyone, or to the owners of a product.')}
            </Notice>
          ) : (
            <DiscountTable discounts={data.discounts} />
          )
        }
      </Loaded>
      {isCreating && <NewDiscount onClose={() => setIsCreating(false)} onCreated={reload} />}
    </Page>
  )
}

function DiscountTable({ discounts }: { discounts: Discount[] }) {
  const [toDelete, setToDelete] = useState<Discount | null>(null)
  return (
    <>
      <ScrollX label={t('Promotion codes')}>
        <Table highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Code')}</Table.Th>
              <Table.Th ta="right">{t('Discount')}</Table.Th>
              <Table.Th visibleFrom="sm">{t('Conditions')}</Table.Th>
              <Table.Th>
                <span className="visually-hidden">{t('Actions')}</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {discounts.map((discount) => (
              <DiscountRow
                key={discount.id}
                discount={discount}
                onDelete={() => setToDelete(discount)}
              />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollX>
      <Confirm
        opened={toDelete !== null}
        onClose={() => setToDelete(null)}
        title={t('Delete {0}?', toDelete?.code)}
        action={t('Delete')}
        onConfirm={async () => {
          await api.delete('/api/admin/discounts/{id}', undefined, {
            path: { id: toDelete?.id ?? '' },
          })
          showToast(t('Promotion code deleted'))
          await reload()
        }}
      >
        {t('The code stops working at once. Orders that used it keep their price.')}
      </Confirm>
    </>
  )
}

function DiscountRow({ discount, onDelete }: { discount: Discount; onDelete: () => void }) {
  const { code, link } = discount
  const conditions = describeConditions(discount, useTierNames())
  return (
    <Table.Tr>
      <Table.Td>
        <span className="mono">{code}</span>
        <div className={classes.under}>{conditions}</div>
      </Table.Td>
      <Table.Td ta="right" className={classes.whole}>
        {describeDiscount(discount)}
      </Table.Td>
      <Table.Td visibleFrom="sm" c="dimmed">
        {conditions || t('None')}
      </Table.Td>
      <Table.Td ta="right" className={classes.actions}>
        <CopyIcon value={link} what={t('link for {0}', code)} />
        <Button
          variant="default"
          size="compact-sm"
          aria-label={t('Delete {0}', code)}
          onClick={onDelete}
        >
          {t('Delete')}
        </Button>
      </Table.Td>
    </Table.Tr>
  )
}

function describeDiscount({ percent_off, amount_off, currency }: Discount): string {
  return percent_off === null
    ? formatAmount(amount_off ?? 0, currency ?? 'usd')
    : `${formatCount(percent_off)} %`
}

function describeConditions(
  { tiers, owners_of, redemptions_max, until }: Discount,
  nameTier: (tier: string) => string,
): string {
  const conditions = [
    tiers && t('For {0}', new Intl.ListFormat(locale).format(tiers.map(nameTier))),
    owners_of && t('owners of {0} only', nameTier(owners_of)),
    redemptions_max && t('at most {0} uses', formatCount(redemptions_max)),
    until && t('until {0}', formatTime(until)),
  ].filter((condition) => condition !== null)
  const text = conditions.join(', ')
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
