import { Group, Text, Title, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Composer } from '../chat/composer.tsx'
import { LinkButton } from '../components/links.tsx'
import { Mark } from '../components/logo.tsx'
import { RequireEntitlement } from '../components/require-entitlement.tsx'
import { ScrollLog } from '../components/scroll-log.tsx'
import { useStickToBottom } from '../components/stick-to-bottom.ts'
import { useTitle } from '../components/title.ts'
import { documentsQuery } from '../documents/documents-query.ts'
import classes from './ask-page.module.css'
import { AskSettings } from './ask-settings.tsx'
import { QuestionView } from './question-view.tsx'
import { useQuestions } from './use-questions.ts'

const route = getRouteApi('/app/ask')

export function AskPage() {
  useTitle('Ask')
  return (
    <RequireEntitlement entitlement="rag" what="Questions open" page>
      <AskThread />
    </RequireEntitlement>
  )
}

function AskThread() {
  const { q, top_k = 5, min_score = 0.5, model } = route.useSearch()
  const navigate = useNavigate()
  const questions = useQuestions()
  const stick = useStickToBottom()
  const retrieval = { top_k, ...(model === undefined ? {} : { model }) }

  const ask = (text: string) => {
    questions.ask(text, { ...retrieval, min_score })
    // The last question stays in the address: after a reload, or sent to a colleague, it is there to be asked again.
    void navigate({ to: '/ask', search: (search) => ({ ...search, q: text }), replace: true, resetScroll: false })
    stick.jump()
  }

  return (
    <div className={classes.page} data-fills>
      <VisuallyHidden component="h1">Ask</VisuallyHidden>
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Text c="dimmed" size="sm">
          Answers from your documents only
        </Text>
        <AskSettings topK={top_k} minScore={min_score} model={model} />
      </Group>
      <ScrollLog label="Questions and answers" busy={questions.writing} stick={stick}>
        {questions.list.length === 0 && <Welcome />}
        {questions.list.map((question, index) => (
          <QuestionView
            key={question.id}
            question={question}
            onRetry={
              index === questions.list.length - 1 && !questions.writing
                ? (least) => questions.retry(question.id, { ...retrieval, min_score: least ?? min_score })
                : undefined
            }
          />
        ))}
      </ScrollLog>
      <Composer label="Question" writing={questions.writing} onSend={ask} onStop={questions.stop} start={q} />
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
          ? 'There is nothing to ask about yet. Bring a document first.'
          : 'An answer comes with the passages it stands on. Where none is near enough, it says so instead of guessing.'}
      </Text>
      {none && <LinkButton to="/documents">Add a document</LinkButton>}
    </div>
  )
}
