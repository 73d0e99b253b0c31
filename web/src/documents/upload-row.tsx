import { ActionIcon, Button, Group, Paper, Progress, Text, ThemeIcon } from '@mantine/core'
import { IconAlertCircle, IconCheck, IconFile, IconX } from '@tabler/icons-react'
import type { IngestWarning } from '../api/types.ts'
import { bytes, plural } from '../components/format.ts'
import type { Upload, UploadState } from './uploads.ts'

type UploadRowProps = { upload: Upload; onRetry: () => void; onRemove: () => void }

export function UploadRow({ upload: { file, state }, onRetry, onRemove }: UploadRowProps) {
  const busy = state.kind === 'sending' || state.kind === 'reading' || state.kind === 'waiting'
  return (
    <Paper component="li" withBorder radius="md" px="sm" py={6}>
      <Group wrap="nowrap" gap="sm">
        <ThemeIcon variant="light" color={state.kind === 'failed' ? 'red' : 'pine'} size={36} aria-hidden>
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
            {file.name}{' '}
            <Text span c="dimmed" size="sm">
              {bytes(file.size)}
            </Text>
          </Text>
          <Text size="sm" c={state.kind === 'failed' ? 'var(--mantine-color-error)' : 'dimmed'} role="status">
            {words(state)}
          </Text>
          {state.kind === 'done' &&
            leftOut(state.warnings).map((line) => (
              <Text key={line} size="sm">
                {line}
              </Text>
            ))}
          {busy && (
            <Progress
              value={state.kind === 'sending' ? 100 * state.sent : state.kind === 'reading' ? 100 : 0}
              animated={state.kind === 'reading'}
              size="sm"
              mt={4}
              aria-label={`${file.name}, sent`}
            />
          )}
        </div>
        {state.kind === 'failed' && state.retriable && (
          <Button variant="default" onClick={onRetry} aria-label={`Retry ${file.name}`}>
            Retry
          </Button>
        )}
        <ActionIcon onClick={onRemove} aria-label={busy ? `Stop ${file.name}` : `Remove ${file.name} from this list`}>
          <IconX size={18} aria-hidden />
        </ActionIcon>
      </Group>
    </Paper>
  )
}

/** One line for each reason, with the pages it holds for. */
function leftOut(warnings: IngestWarning[]): string[] {
  const pages = Map.groupBy(warnings, ({ reason }) => reason)
  return [...pages].map(([reason, those]) => {
    const numbers = those.flatMap(({ page }) => page ?? [])
    if (numbers.length === 0) return reason
    return `${numbers.length === 1 ? 'Page' : 'Pages'} ${numbers.join(', ')}: ${reason}`
  })
}

function words(state: UploadState): string {
  if (state.kind === 'waiting') return 'Waiting'
  if (state.kind === 'sending') return `Sending, ${Math.floor(100 * state.sent)} %`
  if (state.kind === 'reading') return 'Reading and indexing'
  if (state.kind === 'done') return `Done: searchable in ${plural(state.chunks, 'passage')}`
  return state.reason
}
