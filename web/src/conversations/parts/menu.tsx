import type { ReactNode } from 'react'
import classes from './menu.module.css'
import { Popover, type PopoverTarget } from './popover.tsx'

export type MenuEntry = {
  label: string
  icon: ReactNode
  onPick: () => void
  isDangerous?: boolean
} | null

type MenuProps = {
  label: string
  button: (target: PopoverTarget) => ReactNode
  /** Null separates groups; undefined entries are left out. */
  entries: (MenuEntry | undefined)[]
}

export function Menu({ label, button, entries }: MenuProps) {
  return (
    <Popover label={label} button={button} width={224}>
      {(close) => (
        <ul className={classes.list}>
          {entries
            .filter((entry) => entry !== undefined)
            .map((entry, index) =>
              entry === null ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: a separator has nothing else.
                <li key={index} className={classes.line} />
              ) : (
                <li key={entry.label}>
                  <button
                    type="button"
                    data-dangerous={entry.isDangerous || undefined}
                    onClick={() => {
                      close()
                      entry.onPick()
                    }}
                  >
                    {entry.icon}
                    {entry.label}
                  </button>
                </li>
              ),
            )}
        </ul>
      )}
    </Popover>
  )
}
