import { Button, Group, NativeSelect, Skeleton } from '@mantine/core'
import { IconDownload, IconReceipt } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { MovementType, SubscriptionChangeKind } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { t } from '../language/text.ts'
import { MoreRows } from '../shop/more-rows.tsx'
import { ChangeTable, KINDS } from './change-table.tsx'
import { changesQuery, downloadMovements, movementsQuery, readSpan } from './money-query.ts'
import { MovementTable } from './movement-table.tsx'
import { PeriodChoice } from './period-choice.tsx'

const route = getRouteApi('/app/run/run/money')

export function MovementsView() {
  const { days = 30, type } = route.useSearch()
  const navigate = route.useNavigate()
  const span = readSpan(days)
  const movements = useInfiniteQuery({
    ...movementsQuery(span, type),
    placeholderData: (previous) => previous,
  })
  const download = useMutation({ mutationFn: () => downloadMovements(span) })
  return (
    <section aria-label={t('All payments')}>
      <Group gap="sm" mb="md">
        <PeriodChoice />
        <NativeSelect
          aria-label={t('Type')}
          value={type ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: (search) => ({
                ...search,
                type: value === '' ? undefined : (value as MovementType),
              }),
              replace: true,
            })
          }
          data={[
            { value: '', label: t('All types') },
            { value: 'payment', label: t('Payments') },
            { value: 'refund', label: t('Refunds') },
            { value: 'dispute', label: t('Lost disputes') },
          ]}
        />
        <Button
          variant="default"
          leftSection={<IconDownload size={18} aria-hidden />}
          loading={download.isPending}
          onClick={() => download.mutate()}
        >
          {t('Export CSV')}
        </Button>
      </Group>
      <FormProblem problem={download.error} />
      <Loaded query={movements} skeleton={<Skeleton h={420} />}>
        {({ pages }) => {
          const shown = pages.flatMap((page) => page.movements)
          return shown.length === 0 ? (
            <Notice icon={IconReceipt} title={t('No payments in this period')}>
              {t('Choose a longer period, or all types.')}
            </Notice>
          ) : (
            <>
              <MovementTable movements={shown} />
              <MoreRows loaded={plural(shown.length, 'entry', 'entries')} query={movements} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

export function ChangesView() {
  const { days = 30, kind } = route.useSearch()
  const navigate = route.useNavigate()
  const changes = useInfiniteQuery({
    ...changesQuery(readSpan(days), kind),
    placeholderData: (previous) => previous,
  })
  return (
    <section aria-label={t('All changes')}>
      <Group gap="sm" mb="md">
        <PeriodChoice />
        <NativeSelect
          aria-label={t('Change')}
          value={kind ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: (search) => ({
                ...search,
                kind: value === '' ? undefined : (value as SubscriptionChangeKind),
              }),
              replace: true,
            })
          }
          data={[
            { value: '', label: t('All changes') },
            ...Object.entries(KINDS).map(([value, { label }]) => ({ value, label })),
          ]}
        />
      </Group>
      <Loaded query={changes} skeleton={<Skeleton h={420} />}>
        {({ pages }) => {
          const shown = pages.flatMap((page) => page.changes)
          return shown.length === 0 ? (
            <Notice icon={IconReceipt} title={t('No changes in this period')}>
              {t('The service compares all subscriptions every hour.')}
            </Notice>
          ) : (
            <>
              <ChangeTable changes={shown} />
              <MoreRows loaded={plural(shown.length, 'change')} query={changes} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
