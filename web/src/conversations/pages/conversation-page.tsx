import { Skeleton } from '@mantine/core'
import { IconMessageOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { api } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import { LinkButton } from '../../components/links.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Notice } from '../../components/notice.tsx'
import { t } from '../../language/text.ts'
import { useUser } from '../../session/user.ts'
import type { ComposerOptions } from '../composer/composer.tsx'
import { ConversationView } from '../conversation-view.tsx'
import { inBrowser } from '../local/local-conversations.ts'
import { useLocalThread } from '../local/use-local-thread.ts'
import { keepingQuery } from '../queries.ts'
import { PlainHeader, ThreadHeader } from '../thread-header.tsx'
import { useComposerOptions } from '../use-composer-options.ts'
import { useStoredThread } from '../use-stored-thread.ts'

const route = getRouteApi('/app/c/$id')

/** A conversation of the account, or of this browser. */
export function ConversationPage(): ReactElement {
  const { id } = route.useParams()
  const user = useUser()
  const isHere = inBrowser.use(user.id).some((one) => one.id === id)
  const keeping = useQuery(keepingQuery)
  if (isHere) return <LocalConversation key={id} id={id} />
  return (
    <Loaded query={keeping} skeleton={<ConversationSkeleton />}>
      {({ canChange }) => (canChange ? <StoredConversation key={id} id={id} /> : <Missing />)}
    </Loaded>
  )
}

function StoredConversation({ id }: { id: string }) {
  const { query, thread, conversation } = useStoredThread(id)
  const [options, setOptions] = useComposerOptions(
    conversation && {
      model: conversation.model,
      documents: conversation.settings.documents,
      collections: conversation.collection_ids,
    },
    (change) => void saveOptions(id, conversation?.settings ?? {}, change),
  )
  // 422: an address that no conversation has.
  if (query.error instanceof ApiProblem && [404, 422].includes(query.error.status))
    return <Missing />
  return (
    <Loaded query={query} skeleton={<ConversationSkeleton />}>
      {() => (
        <ConversationView
          thread={thread}
          header={conversation && <ThreadHeader conversation={conversation} />}
          draftId={id}
          options={options}
          onOptions={setOptions}
        />
      )}
    </Loaded>
  )
}

async function saveOptions(
  id: string,
  settings: object,
  { model, scope }: Partial<ComposerOptions>,
): Promise<void> {
  await api
    .patch(
      '/api/conversations/{id}',
      {
        ...(model !== undefined && { model }),
        ...(scope && {
          settings: { ...settings, documents: scope.documents },
          collection_ids: scope.collections,
        }),
      },
      { path: { id } },
    )
    // The next question sends the choice anyway.
    .catch(() => undefined)
}

function LocalConversation({ id }: { id: string }) {
  const user = useUser()
  const thread = useLocalThread(inBrowser, user.id, id)
  const title = inBrowser.use(user.id).find((one) => one.id === id)?.title ?? ''
  const [options, setOptions] = useComposerOptions(undefined)
  return (
    <ConversationView
      thread={thread}
      header={<PlainHeader title={title} note={t('Only in this browser')} />}
      draftId={id}
      options={options}
      onOptions={setOptions}
    />
  )
}

function Missing() {
  return (
    <Notice
      icon={IconMessageOff}
      order={1}
      title={t('This conversation is gone')}
      action={<LinkButton to="/home">{t('New conversation')}</LinkButton>}
    >
      {t('It was deleted, or it belongs to another account.')}
    </Notice>
  )
}

function ConversationSkeleton() {
  return (
    <div style={{ width: 'min(100%, 50rem)', marginInline: 'auto', padding: '4rem 1.25rem' }}>
      <Skeleton h={44} w="55%" ml="auto" radius="lg" />
      <Skeleton h={14} mt="xl" />
      <Skeleton h={14} mt="sm" w="92%" />
      <Skeleton h={14} mt="sm" w="64%" />
    </div>
  )
}
