import {
  ActionIcon,
  Card,
  Group,
  Pagination,
  Skeleton,
  Stack,
  Table,
  Text,
  Title,
  VisuallyHidden,
} from '@mantine/core'
import { IconFiles, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { StoredDocument } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { formatAge, formatCompact, formatTime, plural } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { documentsQuery, PAGE_SIZE } from './documents-query.ts'
import { EmbeddingProgress, StorageMeter } from './storage-meter.tsx'

const route = getRouteApi('/app/documents')

export function DocumentList() {
  const { page = 1 } = route.useSearch()
  const navigate = useNavigate()
  const documents = useQuery({
    ...documentsQuery(page),
    placeholderData: (previous) => previous,
  })
  const [toDelete, setToDelete] = useState<StoredDocument | null>(null)

  return (
    <Card component="section" aria-labelledby="document-list">
      <Title order={2} fz="h3" id="document-list">
        Your documents
      </Title>
      <EmbeddingProgress />
      <StorageMeter />
      <Loaded query={documents} skeleton={<RowsSkeleton />}>
        {({ documents, total }) =>
          documents.length === 0 ? (
            <Notice icon={IconFiles} title="No documents yet" order={3}>
              Upload a file above. You can search it when it is done.
            </Notice>
          ) : (
            <>
              <ScrollX label="Documents">
                <Table verticalSpacing="xs" miw={{ base: 0, xs: 440 }}>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Name</Table.Th>
                      <Table.Th ta="right">Size</Table.Th>
                      <Table.Th visibleFrom="xs">Added</Table.Th>
                      <Table.Th w={60}>
                        <VisuallyHidden>Actions</VisuallyHidden>
                      </Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {documents.map((document) => (
                      <Table.Tr key={document.id}>
                        <Table.Td>
                          <TextLink
                            to="/documents/$id"
                            params={{ id: document.id }}
                            dir="auto"
                            style={{ overflowWrap: 'anywhere' }}
                          >
                            {getDocumentName(document)}
                          </TextLink>
                          <Text c="dimmed" size="sm" hiddenFrom="xs">
                            {formatAge(document.created_at)}
                          </Text>
                        </Table.Td>
                        <Table.Td ta="right" className="numbers">
                          {formatCompact(document.characters)} characters
                          <Text c="dimmed" size="sm">
                            {plural(document.chunks, 'passage')}
                          </Text>
                        </Table.Td>
                        <Table.Td title={formatTime(document.created_at)} visibleFrom="xs">
                          {formatAge(document.created_at)}
                        </Table.Td>
                        <Table.Td>
                          <ActionIcon
                            onClick={() => setToDelete(document)}
                            aria-label={`Delete ${getDocumentName(document)}`}
                            color="red"
                          >
                            <IconTrash size={18} aria-hidden />
                          </ActionIcon>
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </ScrollX>
              {total > PAGE_SIZE && (
                <Group justify="center" mt="md">
                  <Pagination
                    total={Math.ceil(total / PAGE_SIZE)}
                    value={page}
                    onChange={(next) =>
                      void navigate({
                        to: '/documents',
                        search: (search) => ({
                          ...search,
                          page: next === 1 ? undefined : next,
                        }),
                        resetScroll: false,
                      })
                    }
                    getControlProps={(control) => ({ 'aria-label': `${control} page` })}
                  />
                </Group>
              )}
            </>
          )
        }
      </Loaded>
      <Confirm
        opened={toDelete !== null}
        onClose={() => setToDelete(null)}
        title="Delete this document?"
        action="Delete"
        onConfirm={async () => {
          if (!toDelete) return
          await api.delete('/api/rag/documents/{document_id}', undefined, {
            path: { document_id: toDelete.id },
          })
          await queries.invalidateQueries({ queryKey: ['documents'] })
        }}
      >
        <b>{toDelete && getDocumentName(toDelete)}</b> and its passages are deleted immediately.
        Answers no longer use them.
      </Confirm>
    </Card>
  )
}

function getDocumentName(document: StoredDocument): string {
  return document.source ?? 'Pasted text'
}

function RowsSkeleton() {
  return (
    <Stack mt="md" gap="xs">
      <Skeleton h={44} />
      <Skeleton h={44} />
      <Skeleton h={44} />
    </Stack>
  )
}
