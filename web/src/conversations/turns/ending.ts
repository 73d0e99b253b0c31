import { endSentence } from '../../api/problem.ts'
import { translateProblem } from '../../language/problem-text.ts'
import { t } from '../../language/text.ts'
import type { Message } from '../api.ts'

export type Ending = {
  tone: 'quiet' | 'problem'
  text: string
  /** The answer has text and can go on. */
  canContinue: boolean
  /** A page that helps. */
  action: 'plans' | 'verify' | null
}

/** Returns why an answer is incomplete and what to do; null for a complete one. */
export function describeEnding(message: Message, hasText: boolean): Ending | null {
  const quiet = (text: string, canContinue = hasText): Ending => ({
    tone: 'quiet',
    text,
    canContinue,
    action: null,
  })
  switch (message.outcome) {
    case 'running':
      return null
    case 'stopped':
      return quiet(t('You stopped this answer.'))
    case 'interrupted':
      return quiet(t('This answer was interrupted.'))
    case 'failed':
      return describeFailure(message, hasText)
    case 'ok':
      if (message.usage?.finish_reason === 'length') return quiet(t('Stopped at the length limit.'))
      if (message.usage?.finish_reason === 'content_filter')
        return quiet(t('The model’s content filter stopped this answer.'), false)
      return null
  }
}

function describeFailure({ problem }: Message, hasText: boolean): Ending {
  const failed = (text: string, action: Ending['action'] = null): Ending => ({
    tone: 'problem',
    text,
    canContinue: hasText,
    action,
  })
  const detail = endSentence(
    problem ? translateProblem(problem.code, problem.detail) : t('The model did not respond'),
  )
  switch (problem?.code) {
    case 'email_not_verified':
    case 'free_needs_verified_email':
      return failed(t('Confirm your email address to get your first answer.'), 'verify')
    case 'free_allowance_taken':
    case 'budget_exhausted':
    case 'token_budget_exhausted':
      return failed(detail, 'plans')
    case 'answer_running':
      return failed(t('This conversation is being answered on another page. Wait for it to end.'))
    case 'vendor_unauthorized':
    case 'provider_not_configured':
      return failed(t('This model is not available. Choose another one.'))
    case 'model_not_found':
      return failed(t('There is no model with this name. Choose another one.'))
    case 'vendor_overloaded':
    case 'gateway_full':
      return failed(t('The model is overloaded. Try again in a moment, or choose another one.'))
    case 'vendor_timeout':
      return failed(t('The model took too long. Try again, or choose another one.'))
    case 'vendor_failed':
      return failed(
        hasText
          ? t('The model stopped in the middle of its answer. Try again, or choose another one.')
          : t('The model did not respond. Try again, or choose another one.'),
      )
    default:
      return failed(detail)
  }
}
