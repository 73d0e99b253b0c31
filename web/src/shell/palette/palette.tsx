import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useLayoutEffect, useRef, useState } from 'react'
import { userQuery } from '../../api/queries.ts'
import type { User } from '../../api/types.ts'
import { plural } from '../../components/format.ts'
import { t } from '../../language/text.ts'
import { useHasSession } from '../../session/use-session.ts'
import { type Entry, rankEntries } from './entry.ts'
import { useFound } from './found.tsx'
import classes from './palette.module.css'
import { storeRecent, useRecentEntries } from './recent.ts'
import { listCallEntries, useStaticEntries } from './static-entries.ts'

type PaletteProps = { onClose: () => void }

/** Command palette: pages, actions, what the user opened last, and what the service finds. */
export function Palette({ onClose }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const isSignedIn = useHasSession()
  const user = useQuery({ ...userQuery, enabled: isSignedIn }).data
  const palette = usePalette(user, isSignedIn)
  const router = useRouter()

  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    field.current?.focus()
    return () => element?.close()
  }, [])

  const choose = (entry: Entry) => {
    dialog.current?.close()
    if ('run' in entry) return entry.run()
    if (user) storeRecent(user.id, entry)
    router.history.push(entry.href)
  }

  return (
    // A click on the backdrop hits the dialog itself. Escape does the same.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above.
    <dialog
      ref={dialog}
      className={classes.dialog}
      aria-label={t('Search')}
      onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && dialog.current?.close()}
    >
      <div className={classes.search}>
        <IconSearch size={20} stroke={1.6} aria-hidden />
        <input
          ref={field}
          role="combobox"
          aria-label={t('Search')}
          aria-expanded={palette.entries.length > 0}
          aria-controls="palette-list"
          aria-activedescendant={palette.active && `palette-${palette.active.id}`}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          maxLength={254}
          placeholder={describeSearch(isSignedIn, user?.is_superuser === true)}
          value={palette.text}
          onChange={(event) => palette.setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
            if (step !== undefined) palette.move(step)
            else if (event.key === 'Enter' && palette.active) choose(palette.active)
            else return
            event.preventDefault()
          }}
        />
      </div>
      <PaletteList entries={palette.entries} active={palette.active} onChoose={choose} />
      <p role="status" className={palette.entries.length > 0 ? 'visually-hidden' : classes.none}>
        {palette.status}
      </p>
      {palette.hasFailed && <p className={classes.none}>{t('Some results couldn’t be loaded.')}</p>}
    </dialog>
  )
}

function describeSearch(isSignedIn: boolean, isOperator: boolean): string {
  if (!isSignedIn) return t('Search pages…')
  return isOperator
    ? t('Search customers, orders, invoices, conversations, pages…')
    : t('Search conversations, files and pages…')
}

type PaletteListProps = {
  entries: readonly Entry[]
  active: Entry | undefined
  onChoose: (entry: Entry) => void
}

/** The entries by group, in the order in which each group first occurs. */
function PaletteList({ entries, active, onChoose }: PaletteListProps) {
  const groups = [...new Set(entries.map(({ group }) => group))]
  return (
    <div id="palette-list" role="listbox" aria-label={t('Results')} className={classes.list}>
      {groups.map((group) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox.
        <div key={group} role="group" aria-label={group}>
          <div className={classes.group} aria-hidden>
            {group}
          </div>
          {entries
            .filter((entry) => entry.group === group)
            .map((entry) => (
              <Row key={entry.id} entry={entry} isActive={entry === active} onChoose={onChoose} />
            ))}
        </div>
      ))}
    </div>
  )
}

type RowProps = { entry: Entry; isActive: boolean; onChoose: (entry: Entry) => void }

function Row({ entry, isActive, onChoose }: RowProps) {
  const { id, label, detail, icon: Glyph } = entry
  return (
    // The field handles the keys of its options.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above.
    <div
      id={`palette-${id}`}
      ref={isActive ? scrollIntoView : undefined}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      className={classes.row}
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onChoose(entry)}
    >
      <Glyph size={18} stroke={1.6} aria-hidden />
      <span className={classes.words}>
        <span dir="auto">{label}</span>
        {detail && <small dir="auto">{detail}</small>}
      </span>
    </div>
  )
}

function scrollIntoView(row: HTMLElement | null): void {
  row?.scrollIntoView({ block: 'nearest' })
}

/** The typed text, the entries that match it, and the active one. */
function usePalette(user: User | undefined, isSignedIn: boolean) {
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
