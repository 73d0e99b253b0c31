import { VisuallyHidden } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { newId } from '../components/new-id.ts'
import { RequireEntitlement } from '../components/require-entitlement.tsx'
import { useTitle } from '../components/title.ts'
import { useUser } from '../session/user.ts'
import { ChatBar } from './chat-bar.tsx'
import classes from './chat-page.module.css'
import { ChatThread } from './chat-thread.tsx'
import { chooseModel } from './chosen-model.ts'
import type { GenerationSettings } from './conversation.ts'
import { useConversations } from './conversation-store.ts'
import { modelsQuery } from './models-query.ts'

const DEFAULT_SETTINGS: GenerationSettings = { temperature: 0.7, maxTokens: null, instructions: '' }

const route = getRouteApi('/app/chat')

/**
 * The address holds the open conversation and the model. A new conversation enters it with its
 * first question.
 */
export function ChatPage() {
  useTitle('Chat')
  const user = useUser()
  const { c, provider, model } = route.useSearch()
  const navigate = useNavigate()
  const conversations = useConversations(user.id)
  const [draft, setDraft] = useState(() => newId())
  const models = useQuery({ ...modelsQuery, enabled: user.entitlements.includes('ai') })
  const chosen = useMemo(
    () => chooseModel({ provider, model }, models.data),
    [provider, model, models.data],
  )
  const [settings, setSettings] = useLocalStorage({
    key: 'latchkey.chat',
    defaultValue: DEFAULT_SETTINGS,
    getInitialValueInEffect: false,
  })

  // An address without a conversation starts a new one.
  const [named, setNamed] = useState(c)
  if (c !== named) {
    setNamed(c)
    if (c === undefined) setDraft(newId())
  }

  const id = c ?? draft
  const open = (next: string | undefined) =>
    void navigate({ to: '/chat', search: { c: next, provider, model }, resetScroll: false })

  return (
    <RequireEntitlement entitlement="ai" what="Chat" page>
      <div className={classes.page} data-fills>
        <VisuallyHidden component="h1">Chat</VisuallyHidden>
        <ChatBar
          conversations={conversations}
          openId={c}
          onOpen={open}
          models={models.data}
          modelsFailed={models.isError}
          chosen={chosen}
          onModel={(next) => void navigate({ to: '/chat', search: { c, ...next }, replace: true })}
          settings={settings}
          onSettings={setSettings}
        />
        <ChatThread
          key={id}
          id={id}
          settings={{ ...settings, ...chosen }}
          others={chosen.otherProviders}
          onFirstQuestion={() => c === undefined && open(id)}
        />
      </div>
    </RequireEntitlement>
  )
}
