import { invalid } from '#platform/problems.ts'

export const CHUNK_SIZE = 1_000
export const CHUNK_SIZE_MIN = 100
export const CHUNK_SIZE_MAX = 10_000
export const OVERLAP = 200
export const OVERLAP_MAX = 2_000

/** Default: the smaller of 200 and a fifth of the size. @throws Problem 422 if not smaller */
export function resolveOverlap(size: number, overlap: number | undefined): number {
  if (overlap === undefined) return Math.min(OVERLAP, Math.floor(size / 5))
  if (overlap >= size) throw invalid(['body', 'chunk_overlap'], 'Should be smaller than chunk_size')
  return overlap
}
