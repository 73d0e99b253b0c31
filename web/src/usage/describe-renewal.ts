// When an allowance renews or ends, as the end of a sentence.
import { formatUtcDay } from '../components/format.ts'

/** `renewsAt` null: the allowance waits for a payment. `endsAt` null: the plan goes on. */
export function describeRenewal(renewsAt: string | null, endsAt: string | null): string {
  if (endsAt !== null && (renewsAt === null || Date.parse(renewsAt) >= Date.parse(endsAt)))
    return `ends on ${formatUtcDay(endsAt)}`
  return renewsAt === null ? 'renews with your next payment' : `renews on ${formatUtcDay(renewsAt)}`
}
