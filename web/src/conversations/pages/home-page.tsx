import { IconGhost2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type ReactElement, Suspense, useEffect, useMemo, useState } from 'react'
import { api } from '../../api/client.ts'
import { lazyPart } from '../../components/lazy-part.ts'
import { newId } from '../../components/new-id.ts'
import { t } from '../../language/text.ts'
import { canConverse, useUser } from '../../session/user.ts'
import type { ComposerOptions } from '../composer/composer.tsx'
import type { Scope } from '../composer/scope.ts'
import { ConversationView } from '../conversation-view.tsx'
import { liveAnswers } from '../live/live-answers.ts'
import { inBrowser, inMemory } from '../local/local-conversations.ts'
import { useLocalThread } from '../local/use-local-thread.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { announceChange, keepingQuery } from '../queries.ts'
import type { Ask } from '../thread.ts'
import { PlainHeader } from '../thread-header.tsx'
import { useComposerOptions } from '../use-composer-options.ts'
import { askStored } from '../use-stored-thread.ts'
import { Greeting, Welcome } from '../welcome/welcome.tsx'

const route = getRouteApi('/app/home')
const SearchHome = lazyPart(() => import('../../library/search-home.tsx'), 'SearchHome')

/** A new conversation. It gets its address with its first question. */
export function HomePage(): ReactElement {
  const { temporary, document, collection } = route.useSearch()
  const user = useUser()
  if (!canConverse(user))
    return (
      <Suspense>
        <SearchHome />
      </Suspense>
    )
  // Without a key, a new temporary conversation would show the last one.
  if (temporary) return <TemporaryConversation key="temporary" />
  return (
    <NewConversation
      key={`${document} ${collection}`}
      scope={
        document || collection
          ? {
              documents: document ? [document] : [],
              collections: collection ? [collection] : [],
            }
          : undefined
      }
    />
  )
}

function NewConversation({ scope }: { scope: Scope | undefined }) {
  const user = useUser()
  const navigate = useNavigate()
  const keeping = useQuery(keepingQuery).data?.keeping
  const [id] = useState(newId)
  const here = useLocalThread(inBrowser, user.id, id)
  const [options, setOptions] = useComposerOptions(undefined, undefined, scope)

  const ask = async (question: Ask) => {
    if (keeping === 'browser') {
      here.ask(question)
      await navigate({ to: '/c/$id', params: { id } })
      return
    }
    const conversation = await create(options)
    askStored(conversation.id, question, null)
    await announceChange()
    await navigate({ to: '/c/$id', params: { id: conversation.id } })
  }
  return (
    <ConversationView
      thread={here}
      header={
        <PlainHeader title={t('New conversation')}>
          <TemporaryToggle isOn={false} />
        </PlainHeader>
      }
      welcome={{
        above: <Greeting />,
        below: <Welcome onAsk={(parts) => ask({ ...toAsk(options), parts })} />,
      }}
      draftId="new"
      options={options}
      onOptions={setOptions}
      onAsk={ask}
    />
  )
}

function TemporaryConversation() {
  const user = useUser()
  const id = useMemo(newId, [])
  const thread = useLocalThread(inMemory, user.id, id)
  const [options, setOptions] = useComposerOptions(undefined)
  // Nothing stays behind.
  useEffect(
    () => () => {
      liveAnswers.drop(id)
      inMemory.update(user.id, (stored) => stored.filter((one) => one.id !== id))
    },
    [id, user.id],
  )
  return (
    <ConversationView
      thread={thread}
      header={
        <PlainHeader title={t('Temporary conversation')}>
          <TemporaryToggle isOn />
        </PlainHeader>
      }
      welcome={{ above: <TemporaryWelcome /> }}
      draftId={null}
      options={options}
      onOptions={setOptions}
    />
  )
}

function TemporaryToggle({ isOn }: { isOn: boolean }) {
  const navigate = useNavigate()
  return (
    <IconButton
      label={isOn ? t('Leave temporary conversation') : t('Temporary conversation')}
      aria-pressed={isOn}
      data-tip-side="below"
      data-tip-align="end"
      onClick={() => void navigate({ to: '/home', search: isOn ? {} : { temporary: true } })}
    >
      <IconGhost2 size={20} stroke={1.7} aria-hidden />
    </IconButton>
  )
}

function toAsk({ model, scope }: ComposerOptions): Omit<Ask, 'parts'> {
  return { model, documents: scope.documents, collections: scope.collections }
}

function create({ model, scope }: ComposerOptions) {
  return api.post('/api/conversations', {
    ...(model !== undefined && { model }),
    settings: { documents: scope.documents },
    collection_ids: scope.collections,
  })
}

function TemporaryWelcome() {
  return (
    <section style={{ textAlign: 'center' }}>
      <IconGhost2 size={40} stroke={1.3} color="var(--latch-brass)" aria-hidden />
      <h2 style={{ margin: '0.75rem 0 0.5rem', fontSize: '1.5rem' }}>
        {t('Temporary conversation')}
      </h2>
      <p style={{ margin: '0 auto', maxWidth: '28rem', color: 'var(--mantine-color-dimmed)' }}>
        {t('It is stored nowhere, and it is gone when you leave this page.')}
      </p>
    </section>
  )
}
