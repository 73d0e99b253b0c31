import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useLayoutEffect, useRef } from 'react'
import { userQuery } from '../../api/queries.ts'
import { t } from '../../language/text.ts'
import { useHasSession } from '../../session/use-session.ts'
import type { Entry } from './entry.ts'
import classes from './palette.module.css'
import { PaletteList } from './palette-list.tsx'
import { storeRecent } from './recent.ts'
import { usePalette } from './use-palette.ts'

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
