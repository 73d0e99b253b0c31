// When an allowance renews or ends, as the end of a sentence.

import { formatUtcDay } from '../components/format.ts'
import { t } from '../language/text.ts'

/** `renewsAt` null: the allowance waits for a payment. `endsAt` null: the plan goes on. */
export function describeRenewal(renewsAt: string | null, endsAt: string | null): string {
  if (endsAt !== null && (renewsAt === null || Date.parse(renewsAt) >= Date.parse(endsAt)))
    return t('ends on {0}', formatUtcDay(endsAt))
  return renewsAt === null
    ? t('renews with your next payment')
    : t('renews on {0}', formatUtcDay(renewsAt))
}
