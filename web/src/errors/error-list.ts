import type { Catalogue } from '#platform/problem.ts'

export type DocumentedError = {
  code: string
  /** The code in OpenAI's dialect. */
  alias: string | undefined
  status: string
  sentence: string
  advice: string | null
}

/** The catalogues as pages show them: without backticks, with full stops. */
export function listErrors(
  catalogues: Readonly<Record<string, Catalogue>>,
): { room: string; errors: DocumentedError[] }[] {
  return Object.entries(catalogues).map(([room, catalogue]) => ({
    room,
    errors: Object.entries(catalogue).map(([code, [status, sentence, advice, alias]]) => ({
      code,
      alias,
      status: [status].flat().join(' or '),
      sentence: formatSentence(sentence),
      advice: advice == null ? null : formatSentence(advice),
    })),
  }))
}

function formatSentence(text: string): string {
  const plain = text.replaceAll('`', '')
  return /[.!?}]$/.test(plain) ? plain : `${plain}.`
}
