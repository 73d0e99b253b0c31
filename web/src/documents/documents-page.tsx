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
      lead="What you put here is yours alone: questions and searches look at nothing else."
    >
      <RequireEntitlement entitlement="rag" what="Documents open">
        <Stack>
          <AddDocuments />
          <DocumentSearch />
          <DocumentList />
        </Stack>
      </RequireEntitlement>
    </Page>
  )
}
