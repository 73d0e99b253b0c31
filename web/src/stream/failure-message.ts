import { endSentence } from '../api/problem.ts'
import type { Ending } from './stream.ts'

type Failure = Extract<Ending, { kind: 'failed' }>

/**
 * What a reader is told when a model failed them, and what they can do: the service's own sentence is for who calls the API.
 * `begun`: part of the answer is there. `others`: what else they could switch to, the nearest first.
 */
export function describeFailedAnswer(
  { detail, code, reason, status, requestId }: Failure,
  { begun, others = [] }: { begun: boolean; others?: string[] },
): string {
  const quote = requestId ? ` (Request ${requestId})` : ''
  const alternative = others[0]
  const again = alternative === undefined ? 'Try again.' : `Try again, or switch to ${alternative}.`
  const elsewhere =
    alternative === undefined ? 'Ask who runs this service.' : `Switch to ${alternative}.`

  // It came inside a stream.
  if (status === undefined) {
    return `${begun ? 'The model broke off in the middle of its answer.' : 'The model did not answer.'} ${again}${quote}`
  }
  switch (code) {
    case 'vendor_unauthorized':
      return `This model cannot be reached from here. ${elsewhere}${quote}`
    case 'provider_not_configured':
      return `This model is not set up here. ${elsewhere}`
    case 'model_not_found':
      return 'There is no model of that name. Choose another one above.'
    case 'vendor_refused':
    case 'context_length_exceeded':
      return `The model refused this request${reason ? `: ${endSentence(reason)}` : '.'}`
    case 'request_not_supported':
      return `This model cannot take this request${reason ? `: ${endSentence(reason)}` : '.'}`
    case 'gateway_full':
      return `Too many people are asking right now. Try again in a moment.${quote}`
    case 'vendor_overloaded':
      return `The model has too much to do right now. ${again}${quote}`
    case 'vendor_timeout':
      return `The model took too long to answer. ${again}${quote}`
    default:
      return status === 502 || status === 504
        ? `The model did not answer. ${again}${quote}`
        : detail
  }
}
