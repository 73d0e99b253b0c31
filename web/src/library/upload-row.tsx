import { ActionIcon, Button, Group, Paper, Progress, Text, ThemeIcon } from '@mantine/core'
import { IconAlertCircle, IconCheck, IconFile, IconX } from '@tabler/icons-react'
import type { IngestWarning } from '../api/types.ts'
import { formatBytes, plural } from '../components/format.ts'
import type { Row, RowState } from './uploads.ts'

type UploadRowProps = { row: Row; onRetry: () => void; onRemove: () => void }

export function UploadRow({ row: { name, sizeBytes, state }, onRetry, onRemove }: UploadRowProps) {
  const busy = state.kind !== 'done' && state.kind !== 'failed'
  return (
    <Paper component="li" withBorder radius="md" px="sm" py={6}>
      <Group wrap="nowrap" gap="sm">
        <ThemeIcon
          variant="light"
          color={state.kind === 'failed' ? 'red' : 'pine'}
          size={36}
          aria-hidden
        >
          {state.kind === 'done' ? (
            <IconCheck size={20} />
          ) : state.kind === 'failed' ? (
            <IconAlertCircle size={20} />
          ) : (
            <IconFile size={20} />
          )}
        </ThemeIcon>
        <div style={{ flex: 1, minWidth: 0 }}>
          <Text truncate>
            {name}{' '}
            <Text span c="dimmed" size="sm">
              {sizeBytes === null ? null : formatBytes(sizeBytes)}
            </Text>
          </Text>
          <Text
            size="sm"
            c={state.kind === 'failed' ? 'var(--mantine-color-error)' : 'dimmed'}
            role="status"
          >
            {describeState(state)}
          </Text>
          {state.kind === 'done' &&
            describeWarnings(state.warnings).map((line) => (
              <Text key={line} size="sm">
                {line}
              </Text>
            ))}
          {busy && (
            <Progress
              value={computePercent(state)}
              animated={state.kind === 'reading' || state.kind === 'storing'}
              size="sm"
              mt={4}
              aria-label={`${name}, ${state.kind === 'storing' ? 'stored' : 'sent'}`}
            />
          )}
        </div>
        {state.kind === 'failed' && state.retriable && (
          <Button variant="default" onClick={onRetry} aria-label={`Retry ${name}`}>
            Retry
          </Button>
        )}
        <ActionIcon
          onClick={onRemove}
          aria-label={busy ? `Stop ${name}` : `Remove ${name} from this list`}
        >
          <IconX size={18} aria-hidden />
        </ActionIcon>
      </Group>
    </Paper>
  )
}

/** Returns one line per reason with its pages. */
function describeWarnings(warnings: IngestWarning[]): string[] {
  const pages = Map.groupBy(warnings, ({ reason }) => reason)
  return [...pages].map(([reason, those]) => {
    const numbers = those.flatMap(({ page }) => page ?? [])
    if (numbers.length === 0) return reason
    return `${numbers.length === 1 ? 'Page' : 'Pages'} ${numbers.join(', ')}: ${reason}`
  })
}

function computePercent(state: RowState): number {
  if (state.kind === 'sending') return 100 * state.sent
  if (state.kind === 'storing') return (100 * state.done) / Math.max(1, state.total)
  return state.kind === 'reading' ? 100 : 0
}

function describeState(state: RowState): string {
  if (state.kind === 'waiting') return 'Waiting'
  if (state.kind === 'paused')
    return `Waiting for the upload limit: continues in ${plural(state.seconds, 'second')}`
  if (state.kind === 'sending') return `Uploading, ${Math.floor(100 * state.sent)} %`
  if (state.kind === 'queued') return 'Uploaded. Queued; you can leave this page.'
  if (state.kind === 'reading') return 'Reading'
  if (state.kind === 'storing')
    return `Indexing, ${state.done} of ${plural(state.total, 'passage')}`
  if (state.kind === 'done') return `Done: searchable in ${plural(state.chunks, 'passage')}`
  return state.reason
}
