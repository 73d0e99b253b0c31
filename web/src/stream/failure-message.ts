import { endSentence } from '../api/problem.ts'
import type { Ending } from './stream.ts'

type Failure = Extract<Ending, { kind: 'failed' }>

/**
 * Returns what happened and what to do when a model failed, because the service's sentence is for
 * API clients. `begun`: part of the answer has arrived. `others`: other providers to suggest, best
 * first.
 */
export function describeFailedAnswer(
  { detail, code, reason, status, requestId }: Failure,
  { begun, others = [] }: { begun: boolean; others?: string[] },
): string {
  const quote = requestId ? ` (Request ${requestId})` : ''
  const alternative = others[0]
  const again = alternative === undefined ? 'Try again.' : `Try again, or switch to ${alternative}.`
  const elsewhere =
    alternative === undefined ? 'Contact the operator.' : `Switch to ${alternative}.`

  // The failure came inside a stream.
  if (status === undefined) {
    return `${begun ? 'The model stopped in the middle of its answer.' : 'The model did not respond.'} ${again}${quote}`
  }
  switch (code) {
    case 'vendor_unauthorized':
      return `This model is not available. ${elsewhere}${quote}`
    case 'provider_not_configured':
      return `This model is not set up. ${elsewhere}`
    case 'model_not_found':
      return 'There is no model with this name. Choose another model.'
    case 'vendor_refused':
    case 'context_length_exceeded':
      return `The model rejected this request${reason ? `: ${endSentence(reason)}` : '.'}`
    case 'request_not_supported':
      return `This model does not support this request${reason ? `: ${endSentence(reason)}` : '.'}`
    case 'gateway_full':
      return `Too many requests right now. Try again in a moment.${quote}`
    case 'vendor_overloaded':
      return `The model is overloaded. ${again}${quote}`
    case 'vendor_timeout':
      return `The model took too long to answer. ${again}${quote}`
    default:
      return status === 502 || status === 504
        ? `The model did not respond. ${again}${quote}`
        : detail
  }
}
