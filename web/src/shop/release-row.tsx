import { Badge, Button, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { StoreRelease } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { formatBytes, formatTime, plural } from '../components/format.ts'
import { showToast } from '../components/toasts.tsx'
import { translateSentence } from '../language/problem-text.ts'
import { t } from '../language/text.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { FormDialog } from './form-dialog.tsx'
import classes from './releases.module.css'
import { reloadReleases } from './releases-query.ts'

const STATUSES: Record<StoreRelease['status'], { name: string; color: string }> = {
  draft: { name: t('Draft'), color: 'brass' },
  published: { name: t('Published'), color: 'pine' },
  withdrawn: { name: t('Withdrawn'), color: 'gray' },
}

type ReleaseProps = { tier: string; release: StoreRelease }

export function ReleaseRow({ tier, release }: ReleaseProps) {
  const { version, status, notes, left_out, is_complete } = release
  const { name, color } = STATUSES[status]
  return (
    <li aria-label={t('Release {0}', version)} className={classes.release}>
      <div className={classes.head}>
        <div>
          <div className={classes.name}>
            <span className={classes.version}>{version}</span>
            <Badge color={color}>{is_complete ? name : t('Not complete')}</Badge>
          </div>
          <div className={classes.state}>{describe(release)}</div>
        </div>
        {release.is_uploaded && <Actions tier={tier} release={release} />}
      </div>
      <div className={classes.more}>
        {left_out.length > 0 && (
          <details className={classes.left}>
            <summary>{t('{0} left out', plural(left_out.length, 'file'))}</summary>
            <ul>
              {left_out.map(({ path, reason }) => (
                <li key={path}>
                  <span className="mono">{path}</span>: {translateSentence('files', reason)}
                </li>
              ))}
            </ul>
          </details>
        )}
        {notes.trim() !== '' && (
          <details className={classes.left}>
            <summary>{t('What is new')}</summary>
            <Markdown text={notes} />
          </details>
        )}
      </div>
    </li>
  )
}

function describe(release: StoreRelease): string {
  const { file_count, size_bytes, is_uploaded } = release
  return [
    describeTime(release),
    file_count !== null && plural(file_count, 'file'),
    size_bytes !== null && formatBytes(size_bytes),
    !is_uploaded && t('not an upload'),
  ]
    .filter(Boolean)
    .join(' · ')
}

function describeTime({ published_at, withdrawn_at, created_at }: StoreRelease): string | null {
  if (withdrawn_at !== null) return t('Withdrawn {0}', formatTime(withdrawn_at))
  if (published_at !== null) return t('Published {0}', formatTime(published_at))
  return created_at && t('Uploaded {0}', formatTime(created_at))
}

type Question = 'withdraw' | 'delete' | 'notes' | null

function Actions({ tier, release }: ReleaseProps) {
  const { version, status, is_complete } = release
  const path = { tier, version }
  const [question, setQuestion] = useState<Question>(null)
  const close = () => setQuestion(null)
  const publish = useMutation({
    mutationFn: () =>
      api.post('/api/admin/products/{tier}/releases/{version}/publish', undefined, { path }),
    onSuccess: async () => {
      showToast(t('{0} published', version))
      await reloadReleases(tier)
    },
  })
  return (
    <div>
      <div className={classes.buttons}>
        {status !== 'published' && is_complete && (
          <Button
            {...(status === 'withdrawn' && { variant: 'default' })}
            loading={publish.isPending}
            onClick={() => publish.mutate()}
          >
            {status === 'withdrawn' ? t('Publish again') : t('Publish')}
          </Button>
        )}
        <Button variant="default" onClick={() => setQuestion('notes')}>
          {t('Edit notes')}
        </Button>
        {status === 'published' && (
          <Button variant="default" onClick={() => setQuestion('withdraw')}>
            {t('Withdraw')}
          </Button>
        )}
        {status === 'draft' && (
          <Button variant="default" onClick={() => setQuestion('delete')}>
            {t('Delete')}
          </Button>
        )}
      </div>
      <FormProblem problem={publish.error} />
      {question === 'notes' && <NotesDialog tier={tier} release={release} onClose={close} />}
      <Confirm
        opened={question === 'withdraw'}
        onClose={close}
        title={t('Withdraw {0}?', version)}
        action={t('Withdraw')}
        onConfirm={async () => {
          await api.post('/api/admin/products/{tier}/releases/{version}/withdraw', undefined, {
            path,
          })
          showToast(t('{0} withdrawn', version))
          await reloadReleases(tier)
        }}
      >
        {t(
          'All downloads of it stop, and buyers get the release before. You can publish it again.',
        )}
      </Confirm>
      <Confirm
        opened={question === 'delete'}
        onClose={close}
        title={t('Delete the draft {0}?', version)}
        action={t('Delete')}
        onConfirm={async () => {
          await api.delete('/api/admin/products/{tier}/releases/{version}', undefined, { path })
          showToast(t('Draft deleted'))
          await reloadReleases(tier)
        }}
      >
        {t('Its files are deleted.')}
      </Confirm>
    </div>
  )
}

function NotesDialog({ tier, release, onClose }: ReleaseProps & { onClose: () => void }) {
  const { version } = release
  const [notes, setNotes] = useState(release.notes)
  return (
    <FormDialog
      title={t('Notes of {0}', version)}
      action={t('Save')}
      done={t('Notes saved')}
      onClose={onClose}
      onSubmit={async () => {
        await api.patch(
          '/api/admin/products/{tier}/releases/{version}',
          { notes },
          { path: { tier, version } },
        )
        await reloadReleases(tier)
      }}
    >
      <Textarea
        label={t('What is new')}
        description={t('Markdown, for the changelog')}
        autosize
        minRows={6}
        maxRows={16}
        maxLength={50_000}
        value={notes}
        onChange={(event) => setNotes(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
