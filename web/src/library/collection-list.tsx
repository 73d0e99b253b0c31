import { IconFiles, IconPlus } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { formatCount } from '../components/format.ts'
import { t } from '../language/text.ts'
import classes from './collection-list.module.css'
import { Dot } from './dot.tsx'
import type { Collection } from './files-query.ts'
import { CollectionDialog } from './lazy-dialogs.ts'

type CollectionListProps = { collections: Collection[]; opened: string | undefined }

export function CollectionList({ collections, opened }: CollectionListProps) {
  const [isCreating, setIsCreating] = useState(false)
  return (
    <section aria-label={t('Collections')} className={classes.list}>
      <Link
        to="/library"
        search={({ sort }) => ({ sort })}
        className={classes.item}
        aria-current={opened === undefined ? 'page' : undefined}
      >
        <IconFiles size={16} stroke={1.7} aria-hidden />
        <span>{t('All files')}</span>
      </Link>
      {collections.map(({ id, name, colour, documents }) => (
        <Link
          key={id}
          to="/library"
          search={({ sort }) => ({ sort, collection: id })}
          className={classes.item}
          aria-current={opened === id ? 'page' : undefined}
        >
          <Dot colour={colour} />
          <span dir="auto">{name}</span>
          <span className={classes.count}>{formatCount(documents)}</span>
        </Link>
      ))}
      <button type="button" className={classes.item} onClick={() => setIsCreating(true)}>
        <IconPlus size={16} stroke={1.7} aria-hidden />
        <span>{t('New collection')}</span>
      </button>
      {isCreating && (
        <Suspense>
          <CollectionDialog onClose={() => setIsCreating(false)} />
        </Suspense>
      )}
    </section>
  )
}
