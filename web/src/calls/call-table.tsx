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
import { formatGroupName } from '../usage/group-name.ts'
import { OutcomeBadge } from './outcome-badge.tsx'

type CallTableProps = { calls: Call[]; onOpen: (call: Call, opener: HTMLElement) => void }

/** One row per call; phones show the call, its time and its cost. */
export function CallTable({ calls, onOpen }: CallTableProps) {
  return (
    <ScrollX label="Calls">
      <Table miw={{ base: 0, md: 860 }} className="numbers" verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Call</Table.Th>
            <Table.Th visibleFrom="md">Time</Table.Th>
            <Table.Th visibleFrom="md">Status</Table.Th>
            <Table.Th visibleFrom="md" ta="right">
              Input
            </Table.Th>
            <Table.Th visibleFrom="md" ta="right">
              Output
            </Table.Th>
            <Table.Th visibleFrom="md" ta="right">
              Duration
            </Table.Th>
            <Table.Th ta="right">Cost</Table.Th>
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
  return (
    <Table.Tr>
      <Table.Td>
        <UnstyledButton mih={44} onClick={(event) => onOpen(call, event.currentTarget)}>
          <Text
            fw={550}
            td="underline"
            style={{ overflowWrap: 'anywhere', textUnderlineOffset: 3 }}
          >
            {modelName(call)}
          </Text>
          <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
            {call.route}
            {call.end_user && ` · ${call.end_user}`}
          </Text>
          <VisuallyHidden>Details of the call at {formatTime(call.at)}</VisuallyHidden>
        </UnstyledButton>
        <Group gap={8} hiddenFrom="md">
          <OutcomeBadge call={call} />
          <Text c="dimmed" size="sm">
            {formatExactTime(call.at)}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td visibleFrom="md" title={formatAge(call.at)} style={{ whiteSpace: 'nowrap' }}>
        {formatExactTime(call.at)}
      </Table.Td>
      <Table.Td visibleFrom="md">
        <OutcomeBadge call={call} />
      </Table.Td>
      <Table.Td visibleFrom="md" ta="right">
        {formatCount(call.prompt_tokens)}
        {call.cached_tokens > 0 && (
          <Text c="dimmed" size="sm" component="div">
            {formatCount(call.cached_tokens)} cached
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="md" ta="right">
        {formatCount(call.completion_tokens)}
      </Table.Td>
      <Table.Td visibleFrom="md" ta="right" style={{ whiteSpace: 'nowrap' }}>
        {formatDuration(call.latency_ms)}
        {call.first_token_ms !== null && (
          <Text c="dimmed" size="sm" component="div">
            first {formatDuration(call.first_token_ms)}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">{formatCallCost(call.cost_usd)}</Table.Td>
    </Table.Tr>
  )
}

function modelName({ model }: Call): string {
  return formatGroupName('model', model, new Map())
}
