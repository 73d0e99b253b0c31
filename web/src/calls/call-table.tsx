import { Group, Table, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import type { Call } from '../api/types.ts'
import {
  formatAge,
  formatCallCost,
  formatCount,
  formatDuration,
  formatExactTime,
  formatTime,
} from '../components/format.ts'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import { formatGroupName } from '../usage/group-name.ts'
import classes from './call-table.module.css'
import { OutcomeBadge } from './outcome-badge.tsx'

type CallTableProps = { calls: Call[]; onOpen: (call: Call, opener: HTMLElement) => void }

/** One row per call; phones show the call, its time and its cost. */
export function CallTable({ calls, onOpen }: CallTableProps) {
  return (
    <ScrollX label={t('Calls')}>
      <Table miw={{ base: 0, md: 860 }} highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Model')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Route')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Time')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Status')}</Table.Th>
            <Table.Th visibleFrom="md" ta="right">
              {t('Input')}
            </Table.Th>
            <Table.Th visibleFrom="md" ta="right">
              {t('Output')}
            </Table.Th>
            <Table.Th visibleFrom="md" ta="right">
              {t('Duration')}
            </Table.Th>
            <Table.Th ta="right">{t('Cost')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {calls.map((call) => (
            <CallRow key={call.id} call={call} onOpen={onOpen} />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function CallRow({ call, onOpen }: { call: Call; onOpen: CallTableProps['onOpen'] }) {
  const { at, route, end_user, cached_tokens, first_token_ms } = call
  return (
    <Table.Tr>
      <Table.Td>
        <UnstyledButton
          className={classes.open ?? ''}
          onClick={(event) => onOpen(call, event.currentTarget)}
        >
          {modelName(call)}
          <VisuallyHidden>{t('Details of the call at {0}', formatTime(at))}</VisuallyHidden>
        </UnstyledButton>
        <Group gap={8} hiddenFrom="md">
          <OutcomeBadge call={call} />
          <Text c="dimmed" size="sm">
            {formatExactTime(at)}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="md" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {route}
        {end_user && ` · ${end_user}`}
      </Table.Td>
      <Table.Td visibleFrom="md" title={formatAge(at)} className={classes.whole ?? ''}>
        {formatExactTime(at)}
      </Table.Td>
      <Table.Td visibleFrom="md">
        <OutcomeBadge call={call} />
      </Table.Td>
      <Table.Td
        visibleFrom="md"
        ta="right"
        title={cached_tokens > 0 ? t('{0} cached', formatCount(cached_tokens)) : undefined}
      >
        {formatCount(call.prompt_tokens)}
      </Table.Td>
      <Table.Td visibleFrom="md" ta="right">
        {formatCount(call.completion_tokens)}
      </Table.Td>
      <Table.Td
        visibleFrom="md"
        ta="right"
        className={classes.whole ?? ''}
        title={
          first_token_ms === null ? undefined : t('First after {0}', formatDuration(first_token_ms))
        }
      >
        {formatDuration(call.latency_ms)}
      </Table.Td>
      <Table.Td ta="right">{formatCallCost(call.cost_usd)}</Table.Td>
    </Table.Tr>
  )
}

function modelName({ model }: Call): string {
  return formatGroupName('model', model, new Map())
}
