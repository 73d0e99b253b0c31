import { ActionIcon, Button, Group, Paper, Progress, Text, ThemeIcon } from '@mantine/core'
import { IconAlertCircle, IconCheck, IconFile, IconX } from '@tabler/icons-react'
import type { IngestWarning } from '../api/types.ts'
import { formatBytes, plural } from '../components/format.ts'
import { translateSentence } from '../language/problem-text.ts'
import { t } from '../language/text.ts'
import classes from './upload-list.module.css'
import type { Row, RowState, useUploads } from './uploads.ts'

export function UploadList({ uploads }: { uploads: ReturnType<typeof useUploads> }) {
  if (uploads.rows.length === 0) return null
  return (
    <ul className={classes.list} aria-label={t('Uploads')}>
      {uploads.rows.map((row) => (
        <UploadRow
          key={row.id}
          row={row}
          onRetry={() => uploads.retry(row.id)}
          onRemove={() => uploads.remove(row.id)}
        />
      ))}
    </ul>
  )
}

type UploadRowProps = { row: Row; onRetry: () => void; onRemove: () => void }

function UploadRow({ row: { name, sizeBytes, state }, onRetry, onRemove }: UploadRowProps) {
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
          <Button variant="default" onClick={onRetry} aria-label={t('Retry {0}', name)}>
            {t('Retry')}
          </Button>
        )}
        <ActionIcon
          onClick={onRemove}
          aria-label={busy ? t('Stop {0}', name) : t('Remove {0} from this list', name)}
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
  return [...pages].map(([english, those]) => {
    const reason = translateSentence('issues', english)
    const numbers = those.flatMap(({ page }) => page ?? [])
    if (numbers.length === 0) return reason
    return `${numbers.length === 1 ? t('Page') : t('Pages')} ${numbers.join(', ')}: ${reason}`
  })
}

function computePercent(state: RowState): number {
  if (state.kind === 'sending') return 100 * state.sent
  if (state.kind === 'storing') return (100 * state.done) / Math.max(1, state.total)
  return state.kind === 'reading' ? 100 : 0
}

function describeState(state: RowState): string {
  if (state.kind === 'waiting') return t('Waiting')
  if (state.kind === 'paused')
    return t('Waiting for the upload limit: continues in {0}', plural(state.seconds, 'second'))
  if (state.kind === 'sending') return t('Uploading, {0} %', Math.floor(100 * state.sent))
  if (state.kind === 'queued') return t('Uploaded. Queued; you can leave this page.')
  if (state.kind === 'reading') return t('Reading')
  if (state.kind === 'storing')
    return t('Indexing, {0} of {1}', state.done, plural(state.total, 'passage'))
  if (state.kind === 'done') return t('Done: searchable in {0}', plural(state.chunks, 'passage'))
  return state.reason
}
