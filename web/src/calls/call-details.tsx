import { Drawer, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Call } from '../api/types.ts'
import { CopyIcon } from '../components/copy.tsx'
import {
  formatCount,
  formatDuration,
  formatExactDollars,
  formatExactTime,
} from '../components/format.ts'
import { describeFailure } from './failure-sentence.ts'
import { OutcomeBadge } from './outcome-badge.tsx'

type CallDetailsProps = { call: Call; keyName: string; onClose: () => void }

/** All that is known of one call. What was said in it is kept nowhere. */
export function CallDetails({ call, keyName, onClose }: CallDetailsProps) {
  const labels = Object.entries(call.labels)
  return (
    <Drawer opened onClose={onClose} position="right" title={call.model || 'Call'} size={440}>
      <Stack gap="md">
        <Group gap="sm">
          <OutcomeBadge call={call} />
          <Text c="dimmed">{formatExactTime(call.at)}</Text>
        </Group>
        <Copied label="Request id" value={call.request_id}>
          Include this ID when you contact support.
        </Copied>
        <Copied label="The vendor’s request id" value={call.vendor_request_id}>
          What {call.vendor} calls it; its support asks for it.
        </Copied>
        {call.error_code && (
          <Copied label="Error code" value={call.error_code}>
            {describeFailure(call.error_code)}
          </Copied>
        )}
        <Fact label="Route">{call.route}</Fact>
        <Fact label="Asked">
          {call.tried.replaceAll(':', ': ').replaceAll(',', ', then ') || call.vendor}
        </Fact>
        <Fact label="Key">{keyName}</Fact>
        {call.end_user && <Fact label="End user">{call.end_user}</Fact>}
        {labels.length > 0 && (
          <Fact label="Labels">
            {labels.map(([name, value]) => (
              <div key={name}>
                {name}: {String(value)}
              </div>
            ))}
          </Fact>
        )}
        <Fact label="Tokens in">
          {formatCount(call.prompt_tokens)}
          {call.cached_tokens > 0 && `, of them ${formatCount(call.cached_tokens)} from the cache`}
        </Fact>
        <Fact label="Tokens out">
          {formatCount(call.completion_tokens)}
          {call.reasoning_tokens > 0 && `, of them ${formatCount(call.reasoning_tokens)} thought`}
        </Fact>
        <Fact label="Cost">
          {formatExactDollars(call.cost_usd)}
          {call.is_estimated && ', estimated'}
        </Fact>
        <Fact label="Took">
          {formatDuration(call.latency_ms)}
          {call.first_token_ms !== null &&
            `, to the first words ${formatDuration(call.first_token_ms)}`}
        </Fact>
      </Stack>
    </Drawer>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text c="dimmed" size="sm">
        {label}
      </Text>
      <Text component="div" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </div>
  )
}

function Copied({
  label,
  value,
  children,
}: {
  label: string
  value: string | null
  children?: ReactNode
}) {
  if (value === null) return null
  return (
    <div>
      <Text c="dimmed" size="sm">
        {label}
      </Text>
      <Group gap={4} wrap="nowrap">
        <Text className="mono" size="sm" style={{ overflowWrap: 'anywhere' }}>
          {value}
        </Text>
        <CopyIcon value={value} what={label.toLowerCase()} />
      </Group>
      {children && (
        <Text c="dimmed" size="sm">
          {children}
        </Text>
      )}
    </div>
  )
}
