import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatProblem } from '../../api/problem.ts'
import { t } from '../../language/text.ts'
import { useUser } from '../../session/user.ts'
import type { Part } from '../api.ts'
import { chosenDocumentsQuery } from '../composer/scope-options.ts'
import { ImportOffer } from './import-offer.tsx'
import { PrivacyNote } from './privacy-note.tsx'
import { addSample, SAMPLE_QUESTION } from './sample.ts'
import classes from './welcome.module.css'

type WelcomeProps = { onAsk: (parts: Part[]) => Promise<void> }

const STARTERS = [
  t('Explain vector search to a colleague in five sentences'),
  t('Draft a friendly reminder for an unpaid invoice'),
  t('Write a SQL query that finds duplicate emails'),
]

export function Greeting() {
  const name = useUser().full_name?.split(' ')[0]
  return (
    <h2 className={classes.title}>
      {name ? `${greet()}, ${name}` : t('What would you like to know?')}
    </h2>
  )
}

/** Below the first message field: a sample for newcomers, suggestions for everybody else. */
export function Welcome({ onAsk }: WelcomeProps) {
  const documents = useQuery(chosenDocumentsQuery)
  return (
    <div className={classes.welcome}>
      {documents.data?.length === 0 ? (
        <Sample onAsk={onAsk} />
      ) : (
        <ul className={classes.starters} aria-label={t('Suggestions')}>
          {STARTERS.map((starter) => (
            <li key={starter}>
              <button type="button" onClick={() => void onAsk([{ type: 'text', text: starter }])}>
                {starter}
              </button>
            </li>
          ))}
        </ul>
      )}
      <ImportOffer />
      <PrivacyNote />
    </div>
  )
}

function Sample({ onAsk }: WelcomeProps) {
  const [state, setState] = useState<'idle' | 'busy' | Error>('idle')
  const start = async () => {
    setState('busy')
    try {
      await addSample()
      await onAsk([{ type: 'text', text: SAMPLE_QUESTION }])
    } catch (error) {
      setState(error as Error)
    }
  }
  return (
    <section className={classes.sample} aria-label={t('Sample')}>
      <p>
        {t(
          'Ask about your own files and every answer shows the sentence it rests on. Add a file with +, or see how it works first.',
        )}
      </p>
      <button type="button" disabled={state === 'busy'} onClick={() => void start()}>
        {state === 'busy' ? t('Adding the sample…') : t('Try with a sample document')}
      </button>
      {state instanceof Error && <p role="alert">{formatProblem(state)}</p>}
    </section>
  )
}

function greet(): string {
  const hour = new Date().getHours()
  if (hour < 5) return t('Good evening')
  if (hour < 12) return t('Good morning')
  return hour < 18 ? t('Good afternoon') : t('Good evening')
}
