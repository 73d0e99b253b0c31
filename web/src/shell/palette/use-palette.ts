import { useState } from 'react'
import type { User } from '../../api/types.ts'
import { plural } from '../../components/format.ts'
import { t } from '../../language/text.ts'
import { type Entry, rankEntries } from './entry.ts'
import { useFound } from './found.tsx'
import { useRecentEntries } from './recent.ts'
import { listCallEntries, useStaticEntries } from './static-entries.ts'

/** The typed text, the entries that match it, and the active one. */
export function usePalette(user: User | undefined, isSignedIn: boolean) {
  const [text, setText] = useState('')
  const [active, setActive] = useState<{ typed: string; id: string | undefined }>()
  const typed = text.trim()
  const pages = useStaticEntries(user, isSignedIn)
  const recent = useRecentEntries(user)
  const found = useFound(typed, user)

  // The service's results come last, so that other entries do not move when they arrive.
  const entries =
    typed === ''
      ? [...recent, ...pages]
      : [
          ...listCallEntries(isSignedIn ? typed : ''),
          ...rankEntries(pages, typed),
          ...found.entries,
        ]
  const previous = active?.typed === typed ? entries.find(({ id }) => id === active.id) : undefined
  const current = previous ?? entries[0]
  // The active entry stays active when later results appear above it.
  if (active?.typed !== typed || active.id !== current?.id) setActive({ typed, id: current?.id })

  return {
    text,
    setText,
    entries,
    active: current,
    hasFailed: found.hasFailed,
    status: describe(typed, entries, found.isSearching),
    move(step: number) {
      const at = entries.findIndex(({ id }) => id === current?.id)
      const next = entries[(at + step + entries.length) % entries.length]
      if (next) setActive({ typed, id: next.id })
    },
  }
}

function describe(typed: string, entries: Entry[], isSearching: boolean): string {
  if (typed === '') return ''
  if (isSearching) return t('Searching…')
  return entries.length === 0 ? t('No results') : plural(entries.length, 'result')
}
