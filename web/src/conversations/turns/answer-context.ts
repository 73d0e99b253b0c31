import { createContext } from 'react'
import type { Source } from '../api.ts'
import type { Cited } from '../citations.ts'

/** What the marks of one answer need. Stable while its text grows. */
export type AnswerSources = {
  sources: Source[]
  /** Returns what a mark stands for; `ordinal` counts the marks of the answer. */
  resolve: (ordinal: number) => Cited | null
  /** Opens the source of a mark beside the answer. */
  open: (ordinal: number) => void
}

export const AnswerContext = createContext<AnswerSources | null>(null)
