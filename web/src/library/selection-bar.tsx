import { IconFolderMinus, IconFolderPlus, IconTrash, IconX } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import { queries } from '../api/queries.ts'
import { Confirm } from '../components/confirm.tsx'
import { plural } from '../components/format.ts'
import { Menu } from '../components/menu.tsx'
import { showToast } from '../components/toasts.tsx'
import { ActionButton } from '../conversations/parts/action-button.tsx'
import { IconButton } from '../conversations/parts/icon-button.tsx'
import { t } from '../language/text.ts'
import { Dot } from './dot.tsx'
import { deleteFile } from './file-table.tsx'
import type { Collection } from './files-query.ts'
import classes from './selection-bar.module.css'

type SelectionBarProps = {
  chosen: ReadonlySet<string>
  collections: Collection[]
  opened: string | undefined
  onDone: () => void
}

/** What can be done with the selected files. */
export function SelectionBar({ chosen, collections, opened, onDone }: SelectionBarProps) {
  const [isDeleting, setIsDeleting] = useState(false)
  const files = plural(chosen.size, 'file')
  const move = useMutation({
    mutationFn: async ({ id, isAdding }: { id: string; name: string; isAdding: boolean }) => {
      for (const document_id of chosen) {
        const options = { path: { id, document_id } }
        const address = '/api/library/collections/{id}/documents/{document_id}'
        if (isAdding) await api.put(address, undefined, options)
        else await api.delete(address, undefined, options)
      }
    },
    onSuccess: (_, { name, isAdding }) => {
      showToast(
        `${isAdding ? t('Added') : t('Removed')} ${files} ${isAdding ? 'to' : 'from'} ${name}`,
      )
      onDone()
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['documents'] }),
  })
  const here = collections.find(({ id }) => id === opened)

  return (
    <div className={classes.bar} role="toolbar" aria-label={t('Selected files')}>
      <IconButton label={t('Clear selection')} data-tip-side="below" onClick={onDone}>
        <IconX size={18} aria-hidden />
      </IconButton>
      <span className={classes.count}>{t('{0} selected', files)}</span>
      {collections.length > 0 && (
        <Menu
          label={t('Add to collection')}
          button={(target) => (
            <ActionButton {...target} disabled={move.isPending}>
              <IconFolderPlus size={18} aria-hidden />
              {t('Add to')}
            </ActionButton>
          )}
          groups={[
            collections.map(({ id, name, colour }) => ({
              label: name,
              icon: () => <Dot colour={colour} />,
              onSelect: () => move.mutate({ id, name, isAdding: true }),
            })),
          ]}
        />
      )}
      {here && (
        <ActionButton
          disabled={move.isPending}
          onClick={() => move.mutate({ id: here.id, name: here.name, isAdding: false })}
        >
          <IconFolderMinus size={18} aria-hidden />
          {t('Remove from {0}', here.name)}
        </ActionButton>
      )}
      <ActionButton onClick={() => setIsDeleting(true)}>
        <IconTrash size={18} aria-hidden />
        {t('Delete')}
      </ActionButton>
      {move.isError && <span role="alert">{formatProblem(move.error)}</span>}
      <Confirm
        opened={isDeleting}
        onClose={() => setIsDeleting(false)}
        title={t('Delete {0}?', files)}
        action={t('Delete')}
        onConfirm={async () => {
          try {
            for (const id of chosen) await deleteFile(id)
            onDone()
          } finally {
            await queries.invalidateQueries({ queryKey: ['documents'] })
          }
        }}
      >
        {t('They and their passages are deleted immediately. Answers no longer use them.')}
      </Confirm>
    </div>
  )
}
