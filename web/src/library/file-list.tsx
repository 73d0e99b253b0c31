import { Button, Skeleton } from '@mantine/core'
import { IconFiles } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { t } from '../language/text.ts'
import classes from './file-list.module.css'
import { FileTable } from './file-table.tsx'
import { type Collection, type FileOrder, filesQuery } from './files-query.ts'
import { SelectionBar } from './selection-bar.tsx'

const route = getRouteApi('/app/library')

type FileListProps = {
  collections: Collection[]
  opened: string | undefined
  onUpload: () => void
  onReplace: (name: string, file: File) => void
}

const SORTS: { value: FileOrder['sort']; label: string }[] = [
  { value: 'date', label: t('Newest') },
  { value: 'name', label: t('Name') },
  { value: 'size', label: t('Largest') },
]

/** The files of a collection, or all, in the chosen order. */
export function FileList({ collections, opened, onUpload, onReplace }: FileListProps) {
  const { sort = 'date' } = route.useSearch()
  const navigate = useNavigate()
  const pages = useInfiniteQuery(filesQuery({ sort, collection: opened }))
  const files = pages.data?.pages.flatMap((page) => page.files) ?? []
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  // A file may have been replaced or deleted since it was picked.
  const chosen = new Set(files.flatMap(({ id }) => (picked.has(id) ? [id] : [])))
  const total = pages.data?.pages[0]?.total ?? 0

  return (
    <section aria-label={t('Files')}>
      {chosen.size > 0 ? (
        <SelectionBar
          chosen={chosen}
          collections={collections}
          opened={opened}
          onDone={() => setPicked(new Set())}
        />
      ) : (
        <div className={classes.bar}>
          <span role="status">{pages.data && plural(total, 'file')}</span>
          <label>
            {t('Sort by')}{' '}
            <select
              value={sort}
              onChange={(event) =>
                void navigate({
                  to: '/library',
                  search: (search) => ({
                    ...search,
                    sort: SORTS.find(({ value }) => value === event.currentTarget.value)?.value,
                  }),
                })
              }
            >
              {SORTS.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      <Loaded query={pages} skeleton={<RowsSkeleton />}>
        {() => {
          if (files.length === 0) return <Empty isCollection={!!opened} onUpload={onUpload} />
          return (
            <>
              <FileTable
                files={files}
                collections={collections}
                chosen={chosen}
                onChoose={setPicked}
                onReplace={onReplace}
              />
              {pages.hasNextPage && (
                <Button
                  variant="default"
                  mt="md"
                  loading={pages.isFetchingNextPage}
                  onClick={() => void pages.fetchNextPage()}
                >
                  {t('Show more')}
                </Button>
              )}
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function Empty({ isCollection, onUpload }: { isCollection: boolean; onUpload: () => void }) {
  return (
    <Notice
      icon={IconFiles}
      title={isCollection ? t('This collection is empty') : t('No files yet')}
      action={<Button onClick={onUpload}>{t('Upload files')}</Button>}
    >
      {isCollection
        ? t('Drop files here, or select files in your library and add them.')
        : t('Drop files here. Answers then show the sentence they stand on.')}
    </Notice>
  )
}

function RowsSkeleton() {
  return (
    <>
      <Skeleton h={28} mt="md" />
      <Skeleton h={28} mt="xs" />
      <Skeleton h={28} mt="xs" />
    </>
  )
}
