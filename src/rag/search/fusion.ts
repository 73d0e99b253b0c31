/** Reciprocal rank fusion: by ranks alone, since a cosine and a share of words do not compare. */

export type Found = { version: string; index: number; score: number }

/** Cormack, Clarke, Büttcher 2009, with their constant. */
const RANK_CONSTANT = 60

/** Each chunk gets the highest of its scores; `rest` follows the ranked chunks. */
export function fuseRankings(rankings: Found[][], rest: Found[]): Found[] {
  const merged = new Map<string, { chunk: Found; rank: number }>()
  for (const ranking of rankings) {
    // A chunk with score 0 has no rank.
    for (const [i, chunk] of ranking.filter(({ score }) => score > 0).entries()) {
      const known = merged.get(buildKey(chunk)) ?? { chunk, rank: 0 }
      known.rank += 1 / (RANK_CONSTANT + i + 1)
      if (chunk.score > known.chunk.score) known.chunk = chunk
      merged.set(buildKey(chunk), known)
    }
  }
  const ranked = [...merged.values()].sort(
    (a, b) => b.rank - a.rank || b.chunk.score - a.chunk.score,
  )
  return [
    ...ranked.map(({ chunk }) => chunk),
    ...rest.filter((chunk) => !merged.has(buildKey(chunk))),
  ]
}

export function buildKey({ version, index }: { version: string; index: number }): string {
  return `${version}/${index}`
}
