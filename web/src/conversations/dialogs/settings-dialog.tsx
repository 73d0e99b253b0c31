import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, request } from '../../api/client.ts'
import { formatProblem } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { formatDay } from '../../components/format.ts'
import { saveFile } from '../../components/save-file.ts'
import { t } from '../../language/text.ts'
import { useUser } from '../../session/user.ts'
import { inBrowser } from '../local/local-conversations.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { announceChange, type Keeping, keepingQuery, sharesQuery } from '../queries.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import classes from './dialogs.module.css'
import { ImportSection } from './import-section.tsx'

/** Where conversations are kept, shared links, import, export and deletion. */
export function SettingsDialog({ onClose }: { onClose: () => void }) {
  const keeping = useQuery(keepingQuery).data
  const canKeep = keeping?.canChange === true
  return (
    <Dialog title={t('Conversations')} onClose={onClose}>
      {keeping && <KeepingChoice keeping={keeping.keeping} canChange={keeping.canChange} />}
      {canKeep && <Shares />}
      {keeping?.keeping === 'account' && <ImportSection />}
      {canKeep && <Export />}
      <DeleteAll isKept={canKeep} />
    </Dialog>
  )
}

function KeepingChoice({ keeping, canChange }: { keeping: Keeping; canChange: boolean }) {
  const [chosen, setChosen] = useState(keeping)
  const change = useMutation({
    onError: () => setChosen(keeping),
    mutationFn: async (next: Keeping) => {
      await api.put('/api/conversations/settings', { keeps_conversations: next === 'account' })
      await queries.invalidateQueries({ queryKey: keepingQuery.queryKey })
      await announceChange()
    },
  })
  if (!canChange)
    return (
      <p className={classes.text}>{t('Conversations stay in this browser until you sign out.')}</p>
    )
  const choose = (next: Keeping) => () => {
    setChosen(next)
    change.mutate(next)
  }
  return (
    <fieldset style={{ margin: 0, padding: 0, border: 0 }}>
      <legend className="visually-hidden">{t('Where conversations are kept')}</legend>
      <label className={classes.option}>
        <input
          type="radio"
          name="keeping"
          checked={chosen === 'account'}
          onChange={choose('account')}
        />
        <span>
          {t('In my account')}
          <small>{t('Encrypted, on all your devices, with search and sharing')}</small>
        </span>
      </label>
      <label className={classes.option}>
        <input
          type="radio"
          name="keeping"
          checked={chosen === 'browser'}
          onChange={choose('browser')}
        />
        <span>
          {t('Only in this browser')}
          <small>
            {t(
              'New conversations are deleted when you sign out. Those in your account stay there.',
            )}
          </small>
        </span>
      </label>
      {change.isError && (
        <p className={classes.problem} role="alert">
          {formatProblem(change.error)}
        </p>
      )}
    </fieldset>
  )
}

function Shares() {
  const shares = useQuery(sharesQuery)
  const end = useMutation({
    mutationFn: async (id: string) => {
      await api.delete('/api/shares/{id}', undefined, { path: { id } })
      await queries.invalidateQueries({ queryKey: sharesQuery.queryKey })
    },
  })
  const list = shares.data?.shares ?? []
  if (list.length === 0) return null
  return (
    <section className={classes.section} aria-label={t('Shared links')}>
      <h3>{t('Shared links')}</h3>
      <ul className={classes.list}>
        {list.map(({ id, url, updated_at, title }) => (
          <li key={id}>
            <span>
              <a href={url} target="_blank" rel="noreferrer">
                {title}
              </a>
              <small>{t('Published {0}', formatDay(updated_at))}</small>
            </span>
            <ActionButton disabled={end.isPending} onClick={() => end.mutate(id)}>
              {t('End link')}
            </ActionButton>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Export() {
  const save = useMutation({
    mutationFn: async () =>
      saveFile(await request('GET', '/api/conversations/export', {}), 'conversations.json'),
  })
  return (
    <section className={classes.section} aria-label={t('Export')}>
      <h3>{t('Export')}</h3>
      <div className={classes.row}>
        <span>
          {save.isError ? formatProblem(save.error) : t('All conversations as one JSON file')}
        </span>
        <ActionButton disabled={save.isPending} onClick={() => save.mutate()}>
          {t('Download')}
        </ActionButton>
      </div>
    </section>
  )
}

function DeleteAll({ isKept }: { isKept: boolean }) {
  const user = useUser()
  const [isAsking, setIsAsking] = useState(false)
  return (
    <section className={classes.section} aria-label={t('Delete')}>
      <h3>{t('Delete')}</h3>
      <div className={classes.row}>
        <span>{t('All conversations, with their shared links')}</span>
        <ActionButton onClick={() => setIsAsking(true)}>{t('Delete all…')}</ActionButton>
      </div>
      {isAsking && (
        <DeleteDialog
          title={t('Delete all conversations?')}
          text={t(
            'This deletes them on all your devices, and ends shared links. You cannot undo this.',
          )}
          action={t('Delete all')}
          onDelete={async () => {
            inBrowser.update(user.id, () => [])
            if (isKept) await api.delete('/api/conversations', { confirm: true })
            await announceChange()
          }}
          onClose={() => setIsAsking(false)}
        />
      )}
    </section>
  )
}
