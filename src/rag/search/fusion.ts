/** Several rankings made one by their ranks alone, since a cosine and a share of words do not compare: reciprocal rank fusion. */

export type Found = { version: string; index: number; score: number }

/** Cormack, Clarke, Büttcher 2009, with their constant. */
const RANK_CONSTANT = 60

/** Each chunk keeps the highest of its scores; `rest` follows where nothing ranks it. */
export function fused(rankings: Found[][], rest: Found[]): Found[] {
  const merged = new Map<string, { chunk: Found; rank: number }>()
  for (const ranking of rankings) {
    // What has nothing in common with a query has no rank by it.
    for (const [i, chunk] of ranking.filter(({ score }) => score > 0).entries()) {
      const known = merged.get(keyOf(chunk)) ?? { chunk, rank: 0 }
      known.rank += 1 / (RANK_CONSTANT + i + 1)
      if (chunk.score > known.chunk.score) known.chunk = chunk
      merged.set(keyOf(chunk), known)
    }
  }
  const ranked = [...merged.values()].sort(
    (a, b) => b.rank - a.rank || b.chunk.score - a.chunk.score,
  )
  return [...ranked.map(({ chunk }) => chunk), ...rest.filter((chunk) => !merged.has(keyOf(chunk)))]
}

export function keyOf({ version, index }: { version: string; index: number }): string {
  return `${version}/${index}`
}
