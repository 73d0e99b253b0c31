import { ActionIcon, Group, Text, Title, Tooltip, VisuallyHidden } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Composer } from '../chat/composer.tsx'
import { LinkButton } from '../components/links.tsx'
import { Mark } from '../components/logo.tsx'
import { RequireEntitlement } from '../components/require-entitlement.tsx'
import { ScrollLog } from '../components/scroll-log.tsx'
import { useStickToBottom } from '../components/stick-to-bottom.ts'
import { useTitle } from '../components/title.ts'
import { documentsQuery } from '../documents/documents-query.ts'
import { useUser } from '../session/user.ts'
import classes from './ask-page.module.css'
import { AskSettings } from './ask-settings.tsx'
import { QuestionView } from './question-view.tsx'
import { useQuestions } from './use-questions.ts'

const route = getRouteApi('/app/ask')

export function AskPage() {
  useTitle('Ask')
  return (
    <RequireEntitlement entitlement="rag" what="Ask" page>
      <AskThread />
    </RequireEntitlement>
  )
}

function AskThread() {
  const { q, top_k = 5, min_score, model } = route.useSearch()
  const navigate = useNavigate()
  const user = useUser()
  const questions = useQuestions(user.id)
  const stick = useStickToBottom()
  // Do not prefill a question that the list already shows.
  const [start] = useState(() => (questions.list.some(({ text }) => text === q) ? undefined : q))
  const retrieval = {
    top_k,
    ...(min_score !== undefined && { min_score }),
    ...(model !== undefined && { model }),
  }

  const ask = (text: string) => {
    questions.ask(text, retrieval)
    // The address holds the last question, so that a shared link fills the composer.
    void navigate({
      to: '/ask',
      search: (search) => ({ ...search, q: text }),
      replace: true,
      resetScroll: false,
    })
    stick.jump()
  }
  const clear = () => {
    questions.clear()
    void navigate({ to: '/ask', search: (search) => ({ ...search, q: undefined }), replace: true })
  }

  return (
    <div className={classes.page} data-fills>
      <VisuallyHidden component="h1">Ask</VisuallyHidden>
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Text c="dimmed" size="sm">
          Answers from your documents only
        </Text>
        <Group gap={0} wrap="nowrap">
          <AskSettings topK={top_k} minScore={min_score} model={model} />
          {questions.list.length > 0 && (
            <Tooltip label="Clear all questions">
              <ActionIcon onClick={clear} aria-label="Clear all questions">
                <IconTrash size={20} stroke={1.6} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      </Group>
      <ScrollLog label="Questions and answers" busy={questions.writing} stick={stick}>
        {questions.list.length === 0 && <Welcome />}
        {questions.list.map((question, index) => (
          <QuestionView
            key={question.id}
            question={question}
            onRetry={
              index === questions.list.length - 1 && !questions.writing
                ? (least) =>
                    questions.retry(
                      question,
                      least === undefined ? retrieval : { ...retrieval, min_score: least },
                    )
                : undefined
            }
          />
        ))}
      </ScrollLog>
      <Composer
        label="Question"
        writing={questions.writing}
        onSend={ask}
        onStop={questions.stop}
        onUp={() => questions.list.at(-1)?.text}
        start={start}
      />
    </div>
  )
}

function Welcome() {
  const documents = useQuery(documentsQuery(1))
  const none = documents.data?.total === 0
  return (
    <div className={classes.welcome}>
      <Mark width={44} height={44} style={{ color: 'var(--latch-brass)' }} />
      <Title order={2} fz="1.75rem">
        Ask your documents
      </Title>
      <Text c="dimmed" maw={460}>
        {none
          ? 'Upload a document first, then ask about it.'
          : 'Answers show the passages they are based on. They stay in this browser until you sign out.'}
      </Text>
      {none && <LinkButton to="/documents">Upload a document</LinkButton>}
    </div>
  )
}
