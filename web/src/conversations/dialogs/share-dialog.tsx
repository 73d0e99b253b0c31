import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { formatProblem } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import type { Share } from '../../api/types.ts'
import { formatDay } from '../../components/format.ts'
import { useCopy } from '../../components/use-copy.ts'
import { t } from '../../language/text.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { conversationQuery, sharesQuery } from '../queries.ts'
import classes from './dialogs.module.css'

type ShareDialogProps = { conversationId: string; onClose: () => void }

const DAY_MS = 86_400_000

/** Publishes a frozen copy of the shown branch, updates it, and ends it. */
export function ShareDialog({ conversationId, onClose }: ShareDialogProps) {
  const shares = useQuery(sharesQuery)
  const share = shares.data?.shares.find((one) => one.conversation_id === conversationId)
  return (
    <Dialog title={t('Share conversation')} onClose={onClose}>
      {shares.isPending ? (
        <p className={classes.text} aria-busy="true">
          {t('Loading…')}
        </p>
      ) : share ? (
        <Shared share={share} />
      ) : (
        <NewShare conversationId={conversationId} />
      )}
    </Dialog>
  )
}

function NewShare({ conversationId }: { conversationId: string }) {
  const [withSources, setWithSources] = useState(true)
  const [days, setDays] = useState('')
  const create = useMutation({
    mutationFn: async () => {
      const leaf_id = await readLeaf(conversationId)
      const expires_at =
        days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
      await api.post(
        '/api/conversations/{id}/shares',
        { leaf_id, with_sources: withSources, ...(expires_at && { expires_at }) },
        { path: { id: conversationId } },
      )
      await queries.invalidateQueries({ queryKey: sharesQuery.queryKey })
    },
  })
  return (
    <>
      <p className={classes.text}>
        {t(
          'Anyone with the link can read a copy of the conversation as it is now. Your name and your documents are not part of it.',
        )}
      </p>
      <label className={classes.option}>
        <input
          type="checkbox"
          checked={withSources}
          onChange={(event) => setWithSources(event.currentTarget.checked)}
        />
        <span>
          {t('Include cited sentences')}
          <small>{t('The sentences that answers cite, never whole documents')}</small>
        </span>
      </label>
      <label className={classes.field}>
        {t('Link ends')}
        <select value={days} onChange={(event) => setDays(event.currentTarget.value)}>
          <option value="">{t('When I end it')}</option>
          <option value="1">{t('In 1 day')}</option>
          <option value="7">{t('In 7 days')}</option>
          <option value="30">{t('In 30 days')}</option>
        </select>
      </label>
      <Problem error={create.error} />
      <div className={classes.buttons}>
        <ActionButton tone="primary" disabled={create.isPending} onClick={() => create.mutate()}>
          {t('Create link')}
        </ActionButton>
      </div>
    </>
  )
}

function Shared({ share }: { share: Share }) {
  const [isCopied, copy] = useCopy(() => share.url)
  const reload = () => queries.invalidateQueries({ queryKey: sharesQuery.queryKey })
  const path = { id: share.id }
  const update = useMutation({
    mutationFn: async () => {
      await api.put('/api/shares/{id}', {}, { path })
      await reload()
    },
  })
  const end = useMutation({
    mutationFn: async () => {
      await api.delete('/api/shares/{id}', undefined, { path })
      await reload()
    },
  })
  return (
    <>
      <div className={classes.link}>
        <input
          readOnly
          value={share.url}
          aria-label={t('Link|noun')}
          onFocus={(event) => event.currentTarget.select()}
        />
        <ActionButton tone="primary" onClick={copy}>
          {isCopied ? t('Copied') : t('Copy link')}
        </ActionButton>
      </div>
      <p className={classes.text} role="status">
        {share.has_newer
          ? t('Newer messages are private until you update the link.')
          : t('The link shows all messages.')}
        {share.expires_at !== null && t(' It ends on {0}.', formatDay(share.expires_at))}
      </p>
      <Problem error={update.error ?? end.error} />
      <div className={classes.buttons}>
        <ActionButton disabled={end.isPending} onClick={() => end.mutate()}>
          {t('End link')}
        </ActionButton>
        <ActionButton
          disabled={!share.has_newer || update.isPending}
          onClick={() => update.mutate()}
        >
          {t('Update link')}
        </ActionButton>
      </div>
    </>
  )
}

function Problem({ error }: { error: unknown }) {
  return error ? (
    <p className={classes.problem} role="alert">
      {formatProblem(error)}
    </p>
  ) : null
}

/** The end of the branch that the reader sees. */
async function readLeaf(id: string): Promise<string> {
  const { pages } = await queries.fetchInfiniteQuery(conversationQuery(id))
  const leaf = pages[0]?.conversation.leaf_id
  if (!leaf) throw new Error('The conversation is empty')
  return leaf
}
