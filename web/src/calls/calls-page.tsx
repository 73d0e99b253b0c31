import { Button, Group, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { IconListSearch, IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { keysQuery } from '../api/queries.ts'
import type { Call, UsageOutcome } from '../api/types.ts'
import { EndlessList } from '../components/endless-list.tsx'
import { ExportButton } from '../components/export-button.tsx'
import { SelectFilter, useSetSearch } from '../components/filters.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { useReturnFocus } from '../components/return-focus.ts'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { formatGroupName } from '../usage/group-name.ts'
import { usageQuery } from '../usage/usage-query.ts'
import { CallDetails } from './call-details.tsx'
import { CallTable } from './call-table.tsx'
import { type CallFilters, callsQuery, downloadCalls } from './calls-query.ts'

const route = getRouteApi('/app/calls')

export function CallsPage() {
  const search = route.useSearch()
  const filters: CallFilters = { ...search, days: search.days ?? 7 }
  const calls = useInfiniteQuery(callsQuery(filters))
  const [open, setOpen] = useState<Call | null>(null)
  const focus = useReturnFocus()
  const keyNames = useKeyNames()
  const isFiltered = [search.outcome, search.model, search.key, search.q].some(
    (one) => one !== undefined,
  )

  return (
    <Page
      title={t('Calls')}
      lead={t('Every call, newest first. We never store prompts or answers.')}
      wide
      actions={<ExportButton download={() => downloadCalls(filters)} />}
    >
      <Filters filters={filters} keyNames={keyNames} />
      <section aria-label={t('All calls')}>
        <EndlessList
          query={calls}
          rows={(page) => page.calls}
          what="call"
          none={
            <Notice
              icon={IconListSearch}
              title={isFiltered ? t('No calls match these filters') : t('No calls in this period')}
            >
              {t('A call appears here when it ends.')}
            </Notice>
          }
        >
          {(shown) => (
            <CallTable
              calls={shown}
              onOpen={(call, opener) => {
                focus.remember(opener)
                setOpen(call)
              }}
            />
          )}
        </EndlessList>
      </section>
      {open && (
        <CallDetails
          call={open}
          keyName={formatGroupName('key', open.key_id ?? 'session', keyNames)}
          onClose={() => {
            setOpen(null)
            focus.restore()
          }}
        />
      )}
    </Page>
  )
}

type FiltersProps = { filters: CallFilters; keyNames: ReadonlyMap<string, string> }

function Filters({ filters, keyNames }: FiltersProps) {
  const set = useSetSearch()
  const models = useQuery(usageQuery(filters.days, 'model'))
  const [text, setText] = useState(filters.q ?? '')
  const find = (event: FormEvent) => {
    event.preventDefault()
    set({ q: text.trim() || undefined })
  }
  const names = new Set([...(models.data?.groups.map(({ key }) => key) ?? []), filters.model ?? ''])
  const keys = new Map([['session', formatGroupName('key', 'session', keyNames)], ...keyNames])
  if (filters.key !== undefined)
    keys.set(filters.key, formatGroupName('key', filters.key, keyNames))

  return (
    <Stack gap="sm" mb="md">
      <Group gap="sm">
        <SegmentedControl
          aria-label={t('Period')}
          value={`${filters.days}`}
          onChange={(value) => set({ days: value === '7' ? undefined : Number(value) })}
          data={[
            { value: '1', label: t('Today') },
            ...['7', '30', '90'].map((value) => ({ value, label: t('{0} days', value) })),
          ]}
        />
        <SegmentedControl
          aria-label={t('Status')}
          value={filters.outcome ?? 'all'}
          onChange={(value) =>
            set({ outcome: value === 'all' ? undefined : (value as UsageOutcome) })
          }
          data={[
            { value: 'all', label: t('All') },
            { value: 'ok', label: 'OK' },
            { value: 'failed', label: t('Failed') },
            { value: 'cancelled', label: t('Cancelled|call') },
          ]}
        />
      </Group>
      <Group gap="sm" align="flex-start">
        <SelectFilter
          name="model"
          aria-label={t('Model')}
          placeholder={t('Any model')}
          searchable
          w={{ base: '100%', xs: 220 }}
          data={[...names]
            .filter(Boolean)
            .map((value) => ({ value, label: formatGroupName('model', value, keyNames) }))}
        />
        <SelectFilter
          name="key"
          aria-label={t('Key')}
          placeholder={t('Any key')}
          w={{ base: '100%', xs: 180 }}
          data={[...keys].map(([value, label]) => ({ value, label }))}
        />
        <form onSubmit={find} style={{ flex: '1 1 300px' }}>
          <Group gap="sm" wrap="nowrap">
            <TextInput
              flex={1}
              type="search"
              aria-label={t('End user, request ID or label')}
              placeholder={t('End user, request ID or label (team:blue)')}
              leftSection={<IconSearch size={18} aria-hidden />}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <Button type="submit" variant="light">
              {t('Search')}
            </Button>
          </Group>
        </form>
      </Group>
    </Stack>
  )
}

/** Returns the names of existing API keys by id. */
function useKeyNames(): ReadonlyMap<string, string> {
  const hasKeys = useUser().entitlements.includes('api_keys')
  const keys = useQuery({ ...keysQuery, enabled: hasKeys })
  return new Map(keys.data?.map(({ id, name }) => [id, name]))
}
