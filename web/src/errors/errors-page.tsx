import { Code, Container, Stack, Text, Title } from '@mantine/core'
import { useEffect } from 'react'
import { catalogues } from '#app/problems.ts'
import type { Catalogue } from '#platform/problem.ts'
import { useTitle } from '../components/title.ts'
import { language } from '../language/language.ts'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'

const SECTIONS = listErrors(catalogues)

/** Lists every error code of the API. The fragment of the address names the code to show first. */
export function ErrorsPage() {
  useTitle(t('Error codes'))
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView(), [])
  return (
    <Container size={780} py={{ base: 'xl', sm: 48 }}>
      <Title order={1}>{t('Error codes')}</Title>
      <Text c="dimmed" mt="sm">
        {rich(
          'Every error has a {0} that stays the same and a sentence that may change. Words in braces are filled in.',
          <Code>code</Code>,
        )}
      </Text>
      {language !== 'en' && (
        <Text c="dimmed" mt="sm">
          {t('The sentences below are in English.')}
        </Text>
      )}
      {SECTIONS.map(({ room, errors }) => (
        <section key={room} aria-labelledby={`room-${room}`}>
          <Title order={2} fz="h3" mt="xl" mb="sm" id={`room-${room}`}>
            {room}
          </Title>
          <Stack>
            {errors.map(({ code, alias, status, sentence, advice }) => (
              <div key={code} id={code} style={{ scrollMarginTop: 80, overflowWrap: 'anywhere' }}>
                <Title order={3} fz="md" className="mono">
                  {code}
                </Title>
                <Text c="dimmed" size="sm">
                  {t('Status {0}', status)}
                  {alias && rich('; {0} under /v1', <Code>{alias}</Code>)}
                </Text>
                <Text lang="en">{sentence}</Text>
                {advice && <Text lang="en">{advice}</Text>}
              </div>
            ))}
          </Stack>
        </section>
      ))}
    </Container>
  )
}

type DocumentedError = {
  code: string
  /** The code in OpenAI's dialect. */
  alias: string | undefined
  status: string
  sentence: string
  advice: string | null
}

/** The catalogues as pages show them: without backticks, with full stops. */
function listErrors(
  catalogues: Readonly<Record<string, Catalogue>>,
): { room: string; errors: DocumentedError[] }[] {
  return Object.entries(catalogues).map(([room, catalogue]) => ({
    room,
    errors: Object.entries(catalogue).map(([code, [status, sentence, advice, alias]]) => ({
      code,
      alias,
      status: [status].flat().join(' or '),
      sentence: formatSentence(sentence),
      advice: advice == null ? null : formatSentence(advice),
    })),
  }))
}

function formatSentence(text: string): string {
  const plain = text.replaceAll('`', '')
  return /[.!?}]$/.test(plain) ? plain : `${plain}.`
}
