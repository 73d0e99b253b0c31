import { Drawer, Group, Stack, Text } from '@mantine/core'
import { IconTerminal2 } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Call } from '../api/types.ts'
import { CopyIcon } from '../components/copy.tsx'
import {
  formatCount,
  formatDuration,
  formatExactDollars,
  formatExactTime,
} from '../components/format.ts'
import { LinkButton, TextLink } from '../components/links.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { formatGroupName } from '../usage/group-name.ts'
import { describeFailure } from './failure-sentence.ts'
import { OutcomeBadge } from './outcome-badge.tsx'

type CallDetailsProps = { call: Call; keyName: string; onClose: () => void }

export function CallDetails({ call, keyName, onClose }: CallDetailsProps) {
  const labels = Object.entries(call.labels)
  const canChat = useUser().entitlements.includes('ai')
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      title={formatGroupName('model', call.model, new Map())}
      size={440}
    >
      <Stack gap="md">
        <Group gap="sm">
          <OutcomeBadge call={call} />
          <Text c="dimmed">{formatExactTime(call.at)}</Text>
        </Group>
        {call.error_code && <Failure code={call.error_code} detail={call.error_detail} />}
        <CopiedFact label={t('Request ID')} value={call.request_id}>
          {t('Include this ID when you contact support.')}
        </CopiedFact>
        <CopiedFact label={t('Vendor’s request ID')} value={call.vendor_request_id}>
          {t('Include this ID when you contact {0}.', call.vendor)}
        </CopiedFact>
        <Fact label={t('Route')}>{call.route}</Fact>
        <Fact label={t('Attempts')}>{formatAttempts(call)}</Fact>
        <Fact label={t('API key')}>{keyName}</Fact>
        {call.end_user && <Fact label={t('End user')}>{call.end_user}</Fact>}
        {labels.length > 0 && (
          <Fact label={t('Labels')}>
            {labels.map(([name, value]) => (
              <div key={name}>
                {name}: {String(value)}
              </div>
            ))}
          </Fact>
        )}
        <Usage call={call} />
        {canChat && isChat(call) && (
          <LinkButton
            to="/playground"
            search={{ call: call.id }}
            variant="default"
            leftSection={<IconTerminal2 size={18} aria-hidden />}
          >
            {t('Replay in playground')}
          </LinkButton>
        )}
      </Stack>
    </Drawer>
  )
}

function Failure({ code, detail }: { code: string; detail: string | null }) {
  const sentence = describeFailure(code)
  return (
    <>
      <CopiedFact label={t('Error code')} value={code}>
        {sentence && <>{sentence} </>}
        <TextLink to="/errors" hash={code} target="_blank" size="sm">
          {t('About this error')}
        </TextLink>
      </CopiedFact>
      {detail && <Fact label={t('Vendor’s message')}>{detail}</Fact>}
    </>
  )
}

function Usage({ call }: { call: Call }) {
  return (
    <>
      <Fact label={t('Input tokens')}>
        {formatCount(call.prompt_tokens)}
        {call.cached_tokens > 0 && t(' ({0} cached)', formatCount(call.cached_tokens))}
      </Fact>
      <Fact label={t('Output tokens')}>
        {formatCount(call.completion_tokens)}
        {call.reasoning_tokens > 0 && t(' ({0} reasoning)', formatCount(call.reasoning_tokens))}
      </Fact>
      <Fact label={t('Cost')}>
        {formatExactDollars(call.cost_usd)}
        {call.is_estimated && ' (estimated)'}
      </Fact>
      <Fact label={t('Duration')}>
        {formatDuration(call.latency_ms)}
        {call.first_token_ms !== null &&
          t(' (first token {0})', formatDuration(call.first_token_ms))}
      </Fact>
    </>
  )
}

/** Routes of calls that no chat model answers. */
const OTHER_ROUTES = /(embeddings|rerank|ingest.*|search)$/

function isChat({ model, route }: Call): boolean {
  return model !== '' && !OTHER_ROUTES.test(route)
}

/** `tried` is `openai:refused,anthropic:ok`. */
function formatAttempts({ tried, vendor }: Call): string {
  return tried.replaceAll(':', ': ').replaceAll(',', ', then ') || vendor
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

type CopiedFactProps = { label: string; value: string | null; children?: ReactNode }

function CopiedFact({ label, value, children }: CopiedFactProps) {
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
        <CopyIcon value={value} what={label.toLowerCase().replace('id', 'ID')} />
      </Group>
      {children && (
        <Text c="dimmed" size="sm" component="div">
          {children}
        </Text>
      )}
    </div>
  )
}
