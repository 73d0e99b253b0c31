/** Searches the documentation: every word must occur in a section, its title or its page's title. */
import { plainText } from '#storefront/pages/markdown.ts'
import type { DocPage, DocSection } from './library.ts'

export type DocResult = { page: DocPage; section: DocSection; excerpt: string }

export const QUERY_LENGTH_MAX = 200
const WORDS_MAX = 8
const RESULTS_MAX = 20
const EXCERPT_LENGTH = 180

/** The best first: words in titles count more than words in texts. */
export function searchDocs(pages: readonly DocPage[], query: string): DocResult[] {
  const words = splitWords(query)
  if (words.length === 0) return []
  return pages
    .flatMap((page) => page.sections.map((section) => ({ page, section })))
    .map((found) => ({ ...found, score: computeScore(found, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, RESULTS_MAX)
    .map(({ page, section }) => ({ page, section, excerpt: cutExcerpt(section.text, words) }))
}

export function splitWords(query: string): string[] {
  const words = query
    .slice(0, QUERY_LENGTH_MAX)
    .toLowerCase()
    .split(/[^\p{L}\p{N}_/.-]+/u)
  return [...new Set(words)].filter((word) => /[\p{L}\p{N}]/u.test(word)).slice(0, WORDS_MAX)
}

function computeScore({ page, section }: Omit<DocResult, 'excerpt'>, words: string[]): number {
  const [pageTitle, title, text] = [page.title, section.title, section.text].map((one) =>
    one.toLowerCase(),
  )
  const scores = words.map((word) =>
    Math.max(
      title?.includes(word) ? 8 : 0,
      // The title of a page stands for its beginning, not for all its sections.
      pageTitle?.includes(word) ? (section.id === '' ? 6 : 1) : 0,
      text?.includes(word) ? 2 : 0,
    ),
  )
  return scores.includes(0) ? 0 : scores.reduce<number>((sum, score) => sum + score, 0)
}

function cutExcerpt(text: string, words: string[]): string {
  const plain = plainText(text)
  const found = words.map((word) => plain.toLowerCase().indexOf(word)).filter((at) => at >= 0)
  const first = Math.max(0, Math.min(...found, plain.length) - EXCERPT_LENGTH / 3)
  const start = found.length === 0 || first < EXCERPT_LENGTH / 3 ? 0 : plain.indexOf(' ', first) + 1
  const rest = plain.slice(start)
  const end = rest.length > EXCERPT_LENGTH ? rest.lastIndexOf(' ', EXCERPT_LENGTH) : rest.length
  return `${start > 0 ? '… ' : ''}${rest.slice(0, end)}${end < rest.length ? ' …' : ''}`
}
