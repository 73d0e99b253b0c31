import assert from 'node:assert/strict'

/** Words that German texts do not contain. */
const ENGLISH =
  /\b(the|your|you|is|are|this|that|and|with|for|to|of|from|by|it|we|on|not|or|until|when)\b/i

const ADDRESSES = /(?:https?:\/\/|mailto:)\S+|\S+@\S+|\/[\w/.?=&-]+/g

/**
 * Requires that a German text has no sentence of its English version and no English word.
 * `data`: what is the same in both, such as names.
 */
export function requireGerman(
  german: string,
  english: string,
  where: string,
  data: RegExp = /(?!)/,
): void {
  const known = new Set(listSentences(english))
  const kept = listSentences(german).filter(
    (sentence) => known.has(sentence) && !data.test(sentence),
  )
  assert.deepEqual(kept, [], `${where}: the same in English`)
  const words = listSentences(german).filter(
    (sentence) => ENGLISH.test(sentence) && !data.test(sentence),
  )
  assert.deepEqual(words, [], `${where}: English words`)
}

function listSentences(text: string): string[] {
  return text
    .replaceAll(ADDRESSES, ' ')
    .split(/\n|: |(?<=[.?!]) /)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\p{L}{2}/u.test(sentence))
}
