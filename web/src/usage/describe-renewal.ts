// When an allowance renews or ends, as the end of a sentence.

import { locale } from '../language/language.ts'
import { t } from '../language/text.ts'

/** The month is long, because a short one ends with a full stop in German. */
const dayFormat = new Intl.DateTimeFormat(locale, {
  day: 'numeric',
  month: 'long',
  timeZone: 'UTC',
})
const formatDay = (iso: string) => dayFormat.format(new Date(iso))

/** `renewsAt` null: the allowance waits for a payment. `endsAt` null: the plan goes on. */
export function describeRenewal(renewsAt: string | null, endsAt: string | null): string {
  if (endsAt !== null && (renewsAt === null || Date.parse(renewsAt) >= Date.parse(endsAt)))
    return t('ends on {0}', formatDay(endsAt))
  return renewsAt === null
    ? t('renews with your next payment')
    : t('renews on {0}', formatDay(renewsAt))
}
