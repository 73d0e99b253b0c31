import { Group, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import type { Call } from '../api/types.ts'
import { type Column, DataTable } from '../components/data-table.tsx'
import {
  formatAge,
  formatCallCost,
  formatCount,
  formatDuration,
  formatExactTime,
  formatTime,
} from '../components/format.ts'
import classes from '../components/table.module.css'
import { t } from '../language/text.ts'
import { formatGroupName } from '../usage/group-name.ts'
import { OutcomeBadge } from './outcome-badge.tsx'

type CallTableProps = { calls: Call[]; onOpen: (call: Call, opener: HTMLElement) => void }

/** One row per call; phones show the call, its time and its cost. */
export function CallTable({ calls, onOpen }: CallTableProps) {
  const first: Column<Call> = {
    head: t('Model'),
    cell: (call) => (
      <>
        <UnstyledButton
          fz="inherit"
          className={classes.open}
          onClick={(event) => onOpen(call, event.currentTarget)}
        >
          {formatGroupName('model', call.model, new Map())}
          <VisuallyHidden>{t('Details of the call at {0}', formatTime(call.at))}</VisuallyHidden>
        </UnstyledButton>
        <Group gap={8} hiddenFrom="md">
          <OutcomeBadge call={call} />
          <Text c="dimmed" size="sm">
            {formatExactTime(call.at)}
          </Text>
        </Group>
      </>
    ),
  }
  return (
    <DataTable
      label={t('Calls')}
      miw={{ base: 0, md: 860 }}
      rows={calls}
      getKey={({ id }) => id}
      columns={[first, ...COLUMNS]}
    />
  )
}

const COLUMNS: Column<Call>[] = [
  {
    head: t('Route'),
    visibleFrom: 'md',
    breaks: 'anywhere',
    c: 'dimmed',
    cell: ({ route, end_user }) => (end_user ? `${route} · ${end_user}` : route),
  },
  {
    head: t('Time'),
    visibleFrom: 'md',
    breaks: 'nowhere',
    title: ({ at }) => formatAge(at),
    cell: ({ at }) => formatExactTime(at),
  },
  { head: t('Status'), visibleFrom: 'md', cell: (call) => <OutcomeBadge call={call} /> },
  {
    head: t('Input'),
    visibleFrom: 'md',
    ta: 'right',
    title: ({ cached_tokens }) =>
      cached_tokens > 0 ? t('{0} cached', formatCount(cached_tokens)) : undefined,
    cell: ({ prompt_tokens }) => formatCount(prompt_tokens),
  },
  {
    head: t('Output'),
    visibleFrom: 'md',
    ta: 'right',
    cell: ({ completion_tokens }) => formatCount(completion_tokens),
  },
  {
    head: t('Duration'),
    visibleFrom: 'md',
    ta: 'right',
    breaks: 'nowhere',
    title: ({ first_token_ms: first }) =>
      first === null ? undefined : t('First after {0}', formatDuration(first)),
    cell: ({ latency_ms }) => formatDuration(latency_ms),
  },
  { head: t('Cost'), ta: 'right', cell: ({ cost_usd }) => formatCallCost(cost_usd) },
]
