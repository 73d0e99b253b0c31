import { IconMessageQuestion, IconPencil, IconTrash } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { Confirm } from '../components/confirm.tsx'
import { LinkButton } from '../components/links.tsx'
import { IconButton } from '../conversations/parts/icon-button.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { canConverse, useUser } from '../session/user.ts'
import classes from './collection-note.module.css'
import type { Collection } from './files-query.ts'
import { CollectionDialog } from './lazy-dialogs.ts'

/** The opened collection: its instructions, and what one can do with it. */
export function CollectionNote({ collection }: { collection: Collection }) {
  const { id, name, instructions } = collection
  const navigate = useNavigate()
  const canAsk = canConverse(useUser())
  const [isEditing, setIsEditing] = useState(false)
  const [isDeleting, setIsDeleting] = useState(false)
  return (
    <div className={classes.note}>
      <div className={classes.words}>
        <h2 dir="auto">{name}</h2>
        {instructions && <p dir="auto">{instructions}</p>}
      </div>
      {canAsk && (
        <LinkButton
          to="/home"
          search={{ collection: id }}
          variant="default"
          leftSection={<IconMessageQuestion size={18} aria-hidden />}
        >
          {t('Ask about these')}
        </LinkButton>
      )}
      <IconButton label={t('Edit collection')} onClick={() => setIsEditing(true)}>
        <IconPencil size={18} aria-hidden />
      </IconButton>
      <IconButton
        label={t('Delete collection')}
        data-tip-align="end"
        onClick={() => setIsDeleting(true)}
      >
        <IconTrash size={18} aria-hidden />
      </IconButton>
      {isEditing && (
        <Suspense>
          <CollectionDialog collection={collection} onClose={() => setIsEditing(false)} />
        </Suspense>
      )}
      <Confirm
        opened={isDeleting}
        onClose={() => setIsDeleting(false)}
        title={t('Delete this collection?')}
        action={t('Delete')}
        onConfirm={async () => {
          await api.delete('/api/library/collections/{id}', undefined, { path: { id } })
          await navigate({ to: '/library', search: {} })
          await queries.invalidateQueries({ queryKey: ['documents'] })
        }}
      >
        {rich('{0} is deleted. Its files stay in your library.', <b>{name}</b>)}
      </Confirm>
    </div>
  )
}
