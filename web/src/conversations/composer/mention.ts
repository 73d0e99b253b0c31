/** `@` and the letters behind it, up to the caret. */
const MENTION = /(^|\s)@([^\s@]*)$/

/** Returns what is typed behind `@`; null without a mention at the caret. */
export function readMention(text: string, caret: number): string | null {
  return MENTION.exec(text.slice(0, caret))?.[2] ?? null
}

/** Replaces the mention at the caret with a name. Returns the text and its caret. */
export function completeMention(
  text: string,
  caret: number,
  name: string,
): { text: string; caret: number } {
  const before = text.slice(0, caret).replace(MENTION, (_, space: string) => `${space}${name} `)
  return { text: before + text.slice(caret), caret: before.length }
}
