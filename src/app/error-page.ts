/**
 * Writes docs/errors.md from the catalogues: `npm run docs`. `npm run check` fails when it is
 * stale.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Entry } from '#platform/problem.ts'
import { catalogues } from './problems.ts'

export const ERROR_PAGE = join(import.meta.dirname, '..', '..', 'docs', 'errors.md')

const HEAD = `# Errors

Every reply with a status of 400 or more says what happened twice: in a sentence for people, which may be reworded, and in \`code\`, a
word that stays. Clients branch on \`code\`.

| Where | Body |
|---|---|
| the API, \`/mcp\` | \`{"detail": "API key not found", "code": "key_not_found"}\`; with 422 \`detail\` is \`[{loc, msg, type}]\` |
| the storefront's \`/api\` | \`{"error": "No active purchase found", "code": "no_active_purchase"}\` |
| \`/v1\` | OpenAI's \`{"error": {"message", "type", "code", "param"}}\`, with OpenAI's own word as \`code\` where it has one, and 400 for 422 |
| \`/v1/messages\` | Anthropic's \`{"type": "error", "error": {"type", "message", "code"}}\`, and 400 for 422 |
| a stream that breaks off | \`event: error\` with \`{"detail", "code"}\`, and no \`[DONE]\`; under \`/v1\` an error in the format of the called API |

Inside a reply of \`/mcp\` errors are JSON-RPC's. Words in braces are filled in. A 429 or 503 says in \`Retry-After\` how long to wait, where
that is known. Every reply has an \`X-Request-Id\`: quote it.
`

/** Advice for errors whose sentence does not already contain it. */
const ADVICE: Record<number, string> = {
  404: 'Check the id: it must be one of yours.',
  503: 'Wait `Retry-After` seconds and try again.',
}

/** The page's text: a table for each room, made from this file's list alone. */
export function errorPage(): string {
  const tables = Object.entries(catalogues).map(([room, catalogue]) => {
    const rows = Object.entries(catalogue).map(([code, entry]) => row(code, entry))
    return `\n## ${room}\n\n| Code | Status | Sentence | What to do |\n|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return HEAD + tables.join('')
}

function row(code: string, [status, sentence, advice, alias]: Entry): string {
  const statuses = [status].flat()
  const toDo = advice ?? ADVICE[statuses[0] ?? 0] ?? '—'
  const underV1 = alias === undefined ? '' : ` (\`/v1\`: \`${alias}\`)`
  return `| \`${code}\`${underV1} | ${statuses.join(', ')} | ${sentence} | ${toDo} |`
}

if (import.meta.main) {
  mkdirSync(dirname(ERROR_PAGE), { recursive: true })
  writeFileSync(ERROR_PAGE, errorPage())
}
