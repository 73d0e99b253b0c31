import { IconCheck } from '@tabler/icons-react'
import { type ComponentType, type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import classes from './menu.module.css'
import { Popover, type PopoverTarget } from './popover.tsx'

export type MenuItem = {
  label: string
  icon: ComponentType<{ size: number; 'aria-hidden': true }>
  onSelect: () => void
  /** One of a group of choices, and whether it is chosen. */
  checked?: boolean
  isDangerous?: boolean
  disabled?: boolean
}

/** Groups of items with a line between them. False items and empty groups are not shown. */
export type MenuGroups = (MenuItem | false | undefined)[][]

type MenuProps = {
  label: string
  button: (target: PopoverTarget) => ReactNode
  title?: ReactNode
  groups: MenuGroups
}

/** A button with a menu of actions. Small, because it is on the first page. */
export function Menu({ label, button, title, groups }: MenuProps) {
  const shown = groups.map((items) => items.filter((item) => item !== undefined && item !== false))
  return (
    <Popover label={label} isMenu button={button} width={224}>
      {(close) => (
        <Items label={label} close={close}>
          {title && <div className={classes.title}>{title}</div>}
          {shown
            .filter((items) => items.length > 0)
            .map((items) => (
              <div key={items[0]?.label} className={classes.group}>
                {items.map((item) => (
                  <Item key={item.label} item={item} close={close} />
                ))}
              </div>
            ))}
        </Items>
      )}
    </Popover>
  )
}

type ItemsProps = { label: string; close: () => void; children: ReactNode }

function Items({ label, close, children }: ItemsProps) {
  const root = useRef<HTMLDivElement>(null)
  useEffect(() => readItems(root.current)[0]?.focus(), [])

  const move = (event: KeyboardEvent) => {
    const items = readItems(root.current)
    const at = items.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (to !== undefined) {
      event.preventDefault()
      items.at(to % items.length)?.focus()
    }
    // The browser closes the menu; nothing around it may close, too.
    if (event.key === 'Escape') event.stopPropagation()
    if (event.key === 'Tab') close()
  }
  return (
    <div
      ref={root}
      role="menu"
      aria-label={label}
      tabIndex={-1}
      className={classes.items}
      onKeyDown={move}
    >
      {children}
    </div>
  )
}

function Item({ item, close }: { item: MenuItem; close: () => void }) {
  const { label, icon: Glyph, checked, isDangerous, disabled, onSelect } = item
  return (
    <button
      type="button"
      {...(checked === undefined
        ? { role: 'menuitem' }
        : { role: 'menuitemradio', 'aria-checked': checked })}
      tabIndex={-1}
      disabled={disabled}
      className={classes.item}
      data-dangerous={isDangerous || undefined}
      onClick={() => {
        close()
        onSelect()
      }}
    >
      <Glyph size={17} aria-hidden />
      <span className={classes.label}>{label}</span>
      {checked && <IconCheck size={16} aria-hidden />}
    </button>
  )
}

function readItems(root: HTMLElement | null): HTMLElement[] {
  return [...(root?.querySelectorAll<HTMLElement>('[role^="menuitem"]:enabled') ?? [])]
}
