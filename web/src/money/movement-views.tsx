import { Group } from '@mantine/core'
import { IconReceipt } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { EndlessList } from '../components/endless-list.tsx'
import { ExportButton } from '../components/export-button.tsx'
import { NativeFilter } from '../components/filters.tsx'
import { Notice } from '../components/notice.tsx'
import { t } from '../language/text.ts'
import { readSpan } from '../usage/days.ts'
import { ChangeTable, KINDS } from './change-table.tsx'
import { changesQuery, downloadMovements, movementsQuery } from './money-query.ts'
import { MovementTable } from './movement-table.tsx'
import { PeriodChoice } from './period-choice.tsx'

const route = getRouteApi('/app/run/run/money')

export function MovementsView() {
  const { days = 30, type } = route.useSearch()
  const span = readSpan(days)
  const movements = useInfiniteQuery(movementsQuery(span, type))
  return (
    <section aria-label={t('All payments')}>
      <Group gap="sm" mb="md">
        <PeriodChoice />
        <NativeFilter
          name="type"
          aria-label={t('Type')}
          all={t('All types')}
          data={[
            { value: 'payment', label: t('Payments') },
            { value: 'refund', label: t('Refunds') },
            { value: 'dispute', label: t('Lost disputes') },
          ]}
        />
        <ExportButton download={() => downloadMovements(span)} />
      </Group>
      <EndlessList
        query={movements}
        rows={(page) => page.movements}
        what="entry"
        several="entries"
        none={
          <Notice icon={IconReceipt} title={t('No payments in this period')}>
            {t('Choose a longer period, or all types.')}
          </Notice>
        }
      >
        {(shown) => <MovementTable movements={shown} />}
      </EndlessList>
    </section>
  )
}

export function ChangesView() {
  const { days = 30, kind } = route.useSearch()
  const changes = useInfiniteQuery(changesQuery(readSpan(days), kind))
  return (
    <section aria-label={t('All changes')}>
      <Group gap="sm" mb="md">
        <PeriodChoice />
        <NativeFilter
          name="kind"
          aria-label={t('Change')}
          all={t('All changes')}
          data={Object.entries(KINDS).map(([value, { label }]) => ({ value, label }))}
        />
      </Group>
      <EndlessList
        query={changes}
        rows={(page) => page.changes}
        what="change"
        none={
          <Notice icon={IconReceipt} title={t('No changes in this period')}>
            {t('The service compares all subscriptions every hour.')}
          </Notice>
        }
      >
        {(shown) => <ChangeTable changes={shown} />}
      </EndlessList>
    </section>
  )
}
