import { IconArrowRight, IconRefresh } from '@tabler/icons-react'
import { LinkButton } from '../../components/links.tsx'
import { SandboxMail } from '../../components/sandbox-mail.tsx'
import { t } from '../../language/text.ts'
import type { Message } from '../api.ts'
import classes from './answer.module.css'
import { describeEnding } from './ending.ts'

type EndingNoteProps = {
  message: Message
  hasText: boolean
  onContinue: (() => void) | undefined
  onRetry: (() => void) | undefined
}

/** Says why an answer is incomplete, with what helps. */
export function EndingNote({ message, hasText, onContinue, onRetry }: EndingNoteProps) {
  const ending = describeEnding(message, hasText)
  if (ending === null) return null
  const isProblem = ending.tone === 'problem'
  return (
    <div className={classes.ending} data-tone={ending.tone} role={isProblem ? 'alert' : undefined}>
      <p>{ending.text}</p>
      {ending.action === 'plans' && (
        <LinkButton to="/pricing" variant="default">
          {t('See plans')}
        </LinkButton>
      )}
      {ending.action === 'verify' && <SandboxMail />}
      {ending.canContinue && onContinue && (
        <button type="button" onClick={onContinue}>
          {t('Continue')} <IconArrowRight size={17} aria-hidden />
        </button>
      )}
      {isProblem && !ending.canContinue && ending.action !== 'plans' && onRetry && (
        <button type="button" onClick={onRetry}>
          <IconRefresh size={17} aria-hidden /> {t('Try again')}
        </button>
      )}
    </div>
  )
}
