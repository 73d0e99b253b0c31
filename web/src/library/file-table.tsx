import {
  IconDots,
  IconFileText,
  IconMessageQuestion,
  IconReplace,
  IconTrash,
} from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { api } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import { queries } from '../api/queries.ts'
import { Confirm } from '../components/confirm.tsx'
import { formatAge, formatCompact, formatTime } from '../components/format.ts'
import { Menu } from '../components/menu.tsx'
import { IconButton } from '../conversations/parts/icon-button.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { Dot } from './dot.tsx'
import classes from './file-list.module.css'
import type { Collection, LibraryFile } from './files-query.ts'

type FileTableProps = {
  files: LibraryFile[]
  collections: Collection[]
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
  onReplace: (name: string, file: File) => void
}

export function FileTable({ files, collections, chosen, onChoose, onReplace }: FileTableProps) {
  const [toDelete, setToDelete] = useState<LibraryFile | null>(null)
  const toReplace = useRef('')
  const picker = useRef<HTMLInputElement>(null)
  const areAllChosen = files.every(({ id }) => chosen.has(id))
  const replace = (name: string) => {
    toReplace.current = name
    picker.current?.click()
  }

  return (
    <>
      <table className={classes.table}>
        <thead>
          <tr>
            <th>
              <label className={classes.choose}>
                <input
                  type="checkbox"
                  aria-label={t('Select all')}
                  checked={areAllChosen}
                  onChange={() => onChoose(new Set(areAllChosen ? [] : files.map(({ id }) => id)))}
                />
              </label>
            </th>
            <th>{t('Name')}</th>
            <th className={`${classes.number} ${classes.wide}`}>{t('Characters')}</th>
            <th className={classes.number}>{t('Added')}</th>
            <th>
              <span className="visually-hidden">{t('Actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {files.map((file) => (
            <Row
              key={file.id}
              file={file}
              collections={collections}
              isChosen={chosen.has(file.id)}
              onToggle={() => onChoose(toggle(chosen, file.id))}
              onReplace={replace}
              onDelete={setToDelete}
            />
          ))}
        </tbody>
      </table>
      <input
        ref={picker}
        type="file"
        hidden
        aria-label={t('Choose the new version')}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0]
          event.currentTarget.value = ''
          if (file) onReplace(toReplace.current, file)
        }}
      />
      <Confirm
        opened={toDelete !== null}
        onClose={() => setToDelete(null)}
        title={t('Delete this file?')}
        action={t('Delete')}
        onConfirm={async () => {
          if (!toDelete) return
          await deleteFile(toDelete.id)
          await queries.invalidateQueries({ queryKey: ['documents'] })
        }}
      >
        {rich(
          '{0} and its passages are deleted immediately. Answers no longer use them.',
          <b>{toDelete && readName(toDelete)}</b>,
        )}
      </Confirm>
    </>
  )
}

type RowProps = {
  file: LibraryFile
  collections: Collection[]
  isChosen: boolean
  onToggle: () => void
  onReplace: (name: string) => void
  onDelete: (file: LibraryFile) => void
}

function Row({ file, collections, isChosen, onToggle, onReplace, onDelete }: RowProps) {
  const navigate = useNavigate()
  const { id, source, characters, created_at } = file
  const name = readName(file)
  return (
    <tr aria-selected={isChosen}>
      <td>
        <label className={classes.choose}>
          <input
            type="checkbox"
            aria-label={t('Select {0}', name)}
            checked={isChosen}
            onChange={onToggle}
          />
        </label>
      </td>
      <td>
        <Link to="/library/$id" params={{ id }} className={classes.name}>
          <span dir="auto">{name}</span>
          <span className={classes.dots}>
            {collections
              .filter((one) => file.collections.includes(one.id))
              .map((one) => (
                <Dot key={one.id} colour={one.colour} title={one.name} />
              ))}
          </span>
        </Link>
      </td>
      <td className={`${classes.number} ${classes.wide}`}>{formatCompact(characters)}</td>
      <td className={classes.number} title={formatTime(created_at)}>
        {formatAge(created_at)}
      </td>
      <td>
        <div className={classes.actions}>
          <Menu
            label={t('Actions for {0}', name)}
            button={(target) => (
              <IconButton label={t('Actions for {0}', name)} data-tip-align="end" {...target}>
                <IconDots size={18} aria-hidden />
              </IconButton>
            )}
            groups={[
              [
                {
                  label: t('Open'),
                  icon: IconFileText,
                  onSelect: () => void navigate({ to: '/library/$id', params: { id } }),
                },
                {
                  label: t('Ask about this'),
                  icon: IconMessageQuestion,
                  onSelect: () => void navigate({ to: '/home', search: { document: id } }),
                },
                source !== null && {
                  label: t('Replace…'),
                  icon: IconReplace,
                  onSelect: () => onReplace(source),
                },
              ],
              [
                {
                  label: t('Delete…'),
                  icon: IconTrash,
                  isDangerous: true,
                  onSelect: () => onDelete(file),
                },
              ],
            ]}
          />
        </div>
      </td>
    </tr>
  )
}

export function readName({ source }: Pick<LibraryFile, 'source'>): string {
  return source ?? t('Pasted text')
}

/** A file that was deleted elsewhere counts as deleted. */
export async function deleteFile(id: string): Promise<void> {
  const path = { document_id: id }
  try {
    await api.delete('/api/library/documents/{document_id}', undefined, { path })
  } catch (error) {
    if (!(error instanceof ApiProblem && error.status === 404)) throw error
  }
}

function toggle(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set)
  if (!next.delete(id)) next.add(id)
  return next
}
