import { IconLock } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { formatProblem } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { uploadFile } from '../../api/upload.ts'
import { plural } from '../../components/format.ts'
import { lazyPart } from '../../components/lazy-part.ts'
import { t } from '../../language/text.ts'
import { useUser } from '../../session/user.ts'
import type { Part } from '../api.ts'
import { waitForDocument } from '../composer/attachments.ts'
import { chosenDocumentsQuery } from '../composer/scope-options.ts'
import { importConversations } from '../import.ts'
import {
  deleteBrowserConversations,
  exportBrowser,
  useBrowserConversations,
} from '../local/browser-export.ts'
import { keepingQuery } from '../queries.ts'
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

const NAME = 'Workshop lease.pdf'
const SAMPLE_QUESTION = 'How much is the deposit, and when do I get it back?'

/** Stores the sample document in the user’s library. */
async function addSample(): Promise<void> {
  const response = await fetch('/sample-lease.pdf')
  if (!response.ok) throw new Error('The sample is missing')
  const file = new File([await response.blob()], NAME, { type: 'application/pdf' })
  const { signal } = new AbortController()
  const jobId = await uploadFile(file, { replaces: true, onProgress: () => undefined, signal })
  await waitForDocument(jobId, signal)
  await queries.invalidateQueries({ queryKey: ['documents'] })
}

const SettingsDialog = lazyPart(() => import('../dialogs/settings-dialog.tsx'), 'SettingsDialog')

const SEEN_KEY = 'latchkey.privacy-note'

/** Explains where conversations are kept. Shown until it is dismissed. */
function PrivacyNote() {
  const keeping = useQuery(keepingQuery).data
  const [isSeen, setIsSeen] = useState(() => localStorage.getItem(SEEN_KEY) !== null)
  const [isOpen, setIsOpen] = useState(false)
  if (isSeen || keeping === undefined) return null
  const dismiss = () => {
    localStorage.setItem(SEEN_KEY, 'seen')
    setIsSeen(true)
  }
  return (
    <section className={classes.privacy} aria-label={t('Privacy')}>
      <IconLock size={18} aria-hidden />
      <p>
        {keeping.keeping === 'account'
          ? t(
              'Conversations are kept encrypted in your account, on all your devices, until you delete them.',
            )
          : t('Conversations stay in this browser until you sign out.')}
      </p>
      {keeping.canChange && (
        <button type="button" onClick={() => setIsOpen(true)}>
          {t('Change|verb')}
        </button>
      )}
      <button type="button" onClick={dismiss}>
        {t('OK')}
      </button>
      <Suspense>{isOpen && <SettingsDialog onClose={() => setIsOpen(false)} />}</Suspense>
    </section>
  )
}

/** Offers once to move this browser’s conversations into the account. */
function ImportOffer() {
  const user = useUser()
  const keeping = useQuery(keepingQuery).data?.keeping
  const count = useBrowserConversations(user.id)
  const move = useMutation({
    mutationFn: async () => {
      await importConversations(await exportBrowser(user.id))
      deleteBrowserConversations(user.id)
    },
  })
  if (keeping !== 'account' || count === 0) return null
  return (
    <section className={classes.privacy} aria-label={t('Conversations in this browser')}>
      <p role="status">
        {move.isError
          ? formatProblem(move.error)
          : t(
              'This browser keeps {0}. Move them into your account?',
              plural(count, 'conversation'),
            )}
      </p>
      <button type="button" disabled={move.isPending} onClick={() => move.mutate()}>
        {t('Move')}
      </button>
      <button type="button" onClick={() => deleteBrowserConversations(user.id)}>
        {t('Delete')}
      </button>
    </section>
  )
}
