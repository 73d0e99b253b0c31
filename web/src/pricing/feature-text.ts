import { formatCount, formatDollars } from '../components/format.ts'
import { t, translate } from '../language/text.ts'

/** Features of built-in plans with numbers, which the service writes in English. */
const WITH_NUMBERS: [RegExp, (value: string) => string][] = [
  [
    /^(\S+) of usage included each month$/,
    (usd) => t('{0} of usage included each month', formatDollars(readNumber(usd))),
  ],
  [/^([\d,]+) tokens a month$/, (count) => t('{0} tokens a month', formatCount(readNumber(count)))],
  [
    /^Chat and completions with (\d+) model vendors$/,
    (count) => t('Chat and completions with {0} model vendors', count),
  ],
]

const readNumber = (text: string) => Number(text.replace(/[$,]/g, ''))

/** Returns the feature in the language of the app, where it is one of a built-in plan. */
export function translateFeature(feature: string): string {
  for (const [pattern, write] of WITH_NUMBERS) {
    const value = pattern.exec(feature)?.[1]
    if (value !== undefined) return write(value)
  }
  return translate(feature)
}
