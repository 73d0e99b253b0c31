import { IconClipboardText, IconUpload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense, useRef, useState } from 'react'
import { lazyPart } from '../components/lazy-part.ts'
import { Page } from '../components/page.tsx'
import { RequireEntitlement } from '../components/require-entitlement.tsx'
import { ActionButton } from '../conversations/parts/action-button.tsx'
import { Dialog } from '../conversations/parts/dialog.tsx'
import { t } from '../language/text.ts'
import { CollectionList } from './collection-list.tsx'
import { CollectionNote } from './collection-note.tsx'
import { DropArea } from './drop-area.tsx'
import { FileList } from './file-list.tsx'
import { collectionsQuery } from './files-query.ts'
import classes from './library-page.module.css'
import { LibrarySearch } from './library-search.tsx'
import { EmbeddingProgress, StorageMeter } from './storage-meter.tsx'
import { UploadList } from './upload-list.tsx'
import { useUploads } from './uploads.ts'

const route = getRouteApi('/app/library')
const PasteText = lazyPart(() => import('./paste-text.tsx'), 'PasteText')

export function LibraryPage() {
  return (
    <RequireEntitlement entitlement="library" what={t('Library')} page>
      <Library />
    </RequireEntitlement>
  )
}

function Library() {
  const { collection: opened, q } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: collections = [] } = useQuery(collectionsQuery)
  const collection = collections.find(({ id }) => id === opened)
  const uploads = useUploads()
  const [isPasting, setIsPasting] = useState(false)
  const [replaces, setReplaces] = useState(false)
  const picker = useRef<HTMLInputElement>(null)
  const add = (files: File[]) =>
    uploads.add(files, { replaces, collections: collection ? [collection.id] : [] })

  return (
    <Page
      title={t('Library')}
      lead={t('Only you can see your files.')}
      wide
      actions={
        <div className={classes.actions}>
          <label className={classes.replace}>
            <input
              type="checkbox"
              checked={replaces}
              onChange={(event) => setReplaces(event.currentTarget.checked)}
            />
            {t('Replace files with the same name')}
          </label>
          <ActionButton onClick={() => setIsPasting(true)}>
            <IconClipboardText size={18} aria-hidden />
            {t('Paste text')}
          </ActionButton>
          <ActionButton tone="primary" onClick={() => picker.current?.click()}>
            <IconUpload size={18} aria-hidden />
            {t('Upload')}
          </ActionButton>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label={t('Choose files to upload')}
            onChange={(event) => {
              add([...(event.currentTarget.files ?? [])])
              event.currentTarget.value = ''
            }}
          />
        </div>
      }
    >
      <EmbeddingProgress />
      <StorageMeter />
      <DropArea onDrop={add} target={collection?.name}>
        <div className={classes.columns}>
          <CollectionList collections={collections} opened={opened} />
          <div className={classes.files}>
            <LibrarySearch
              q={q}
              onSearch={(q) =>
                void navigate({ search: (search) => ({ ...search, q }), resetScroll: false })
              }
            />
            {q === undefined && (
              <>
                <UploadList uploads={uploads} />
                {collection && <CollectionNote collection={collection} />}
                <FileList
                  collections={collections}
                  opened={opened}
                  onUpload={() => picker.current?.click()}
                  onReplace={(name, file) =>
                    uploads.add([file], { replaces: true, source: name, collections: [] })
                  }
                />
              </>
            )}
          </div>
        </div>
      </DropArea>
      {isPasting && (
        <Dialog title={t('Paste text')} onClose={() => setIsPasting(false)}>
          <Suspense>
            <PasteText
              collections={collection ? [collection.id] : []}
              onDone={() => setIsPasting(false)}
            />
          </Suspense>
        </Dialog>
      )}
    </Page>
  )
}
