import { Stack } from '@mantine/core'
import { Page } from '../components/page.tsx'
import { RequireEntitlement } from '../components/require-entitlement.tsx'
import { AddDocuments } from './add-documents.tsx'
import { DocumentList } from './document-list.tsx'
import { DocumentSearch } from './document-search.tsx'

export function DocumentsPage() {
  return (
    <Page
      title="Documents"
      lead="Only you can see your documents. Search and Ask use no other sources."
    >
      <RequireEntitlement entitlement="rag" what="Documents">
        <Stack>
          <AddDocuments />
          <DocumentSearch />
          <DocumentList />
        </Stack>
      </RequireEntitlement>
    </Page>
  )
}
