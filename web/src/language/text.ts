/**
 * Texts in the language of the app. The English text is the key: `de.json` has a German one for each,
 * so a text without one is a type error. In a German page, a script defines them before the app starts.
 */
import type german from './de.json'

export type Message = keyof typeof german
type Value = string | number | null | undefined

const { texts = {} } = globalThis as { texts?: Partial<Record<string, string>> }

/** Returns the text with its values: `{0}` is the first. */
export function t(message: Message, ...values: readonly Value[]): string {
  const text = translate(message)
  if (values.length === 0) return text
  return text.replace(/\{(\d)\}/g, (_, place) => String(values[Number(place)] ?? ''))
}

/**
 * Returns a text in the language of the app. The bar and the note after it are not shown: in
 * `Open|state`, they separate two equal English texts with different German ones.
 */
export const translate = (message: string): string => texts[message] ?? message.replace(/\|.*/, '')
