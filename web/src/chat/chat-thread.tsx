import { Button, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { Mark } from '../components/logo.tsx'
import { ScrollLog } from '../components/scroll-log.tsx'
import { useStickToBottom } from '../components/stick-to-bottom.ts'
import { useUser } from '../session/user.ts'
import classes from './chat-thread.module.css'
import { Composer } from './composer.tsx'
import type { ChatSettings } from './conversation.ts'
import { TurnView } from './turn-view.tsx'
import { useTurnsShown } from './turns-shown.ts'
import { useChat } from './use-chat.ts'

type ChatThreadProps = {
  id: string
  settings: ChatSettings
  others: string[]
  onFirstQuestion: () => void
}

export function ChatThread({ id, settings, others, onFirstQuestion }: ChatThreadProps) {
  const user = useUser()
  const chat = useChat(user.id, id, settings)
  const stick = useStickToBottom()
  const shown = useTurnsShown(chat.turns.length)

  const [edited, setEdited] = useState<string | null>(null)

  const send = (text: string) => {
    chat.send(text)
    stick.jump()
    onFirstQuestion()
  }

  return (
    <>
      <ScrollLog label="Conversation" busy={chat.writing} stick={stick}>
        {chat.turns.length === 0 && <Welcome onPick={send} />}
        {chat.turns.slice(-shown).map((turn) => (
          <TurnView
            key={turn.id}
            turn={turn}
            last={turn === chat.turns.at(-1)}
            others={others}
            onRetry={chat.retry}
            onContinue={chat.continueAnswer}
            onEdit={chat.edit}
            editing={turn.id === edited}
            onEditing={setEdited}
          />
        ))}
      </ScrollLog>
      <Composer
        writing={chat.writing}
        onSend={send}
        onStop={chat.stop}
        onUp={() => {
          setEdited(chat.turns.findLast(({ role }) => role === 'user')?.id ?? null)
          return undefined
        }}
        label="Message"
      />
    </>
  )
}

const STARTERS = [
  'Explain vector search to a colleague in five sentences',
  'Draft a friendly reminder for an unpaid invoice',
  'Write a SQL query that finds duplicate emails',
]

function Welcome({ onPick }: { onPick: (text: string) => void }) {
  return (
    <div className={classes.welcome}>
      <Mark width={44} height={44} style={{ color: 'var(--latch-brass)' }} />
      <Title order={2} fz="1.75rem">
        What would you like to know?
      </Title>
      <Text c="dimmed">
        Your messages go to the model you choose. Conversations stay in this browser until you sign
        out.
      </Text>
      <div className={classes.starters}>
        {STARTERS.map((starter) => (
          <Button
            key={starter}
            variant="default"
            radius="xl"
            onClick={() => onPick(starter)}
            className={classes.starter ?? ''}
          >
            {starter}
          </Button>
        ))}
      </div>
    </div>
  )
}
