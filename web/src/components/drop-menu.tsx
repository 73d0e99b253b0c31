import type { Icon } from '@tabler/icons-react'
import { IconCheck } from '@tabler/icons-react'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import classes from './drop-menu.module.css'

export type DropMenuItem = {
  label: string
  icon: Icon
  onSelect: () => void
  /** One of a group of choices, and whether it is chosen. */
  checked?: boolean
}

type DropMenuProps = {
  /** The accessible name of the button, unless its content has one. */
  label?: string
  button: ReactNode
  buttonClass?: string | undefined
  title?: ReactNode
  /** Groups of items with a line between them. */
  groups: DropMenuItem[][]
  above?: boolean
}

/**
 * A button with a menu of actions. It is in the first page, so it must be small: Mantine's menu
 * brings a positioning engine with it.
 */
export function DropMenu({ label, button, buttonClass, title, groups, above }: DropMenuProps) {
  const id = useId()
  const [isOpen, setIsOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const close = () => {
    setIsOpen(false)
    opener.current?.focus()
  }

  useEffect(() => {
    if (!isOpen) return
    readItems(root.current)[0]?.focus()
    const leave = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setIsOpen(false)
    }
    document.addEventListener('pointerdown', leave)
    return () => document.removeEventListener('pointerdown', leave)
  }, [isOpen])

  const move = (event: KeyboardEvent) => {
    const items = readItems(root.current)
    const at = items.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (to !== undefined) {
      event.preventDefault()
      items.at(to % items.length)?.focus()
    } else if (event.key === 'Escape') {
      event.stopPropagation()
      close()
    } else if (event.key === 'Tab') setIsOpen(false)
  }

  return (
    <div ref={root} className={classes.root}>
      <button
        ref={opener}
        type="button"
        className={buttonClass ?? classes.button}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setIsOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        <div
          id={id}
          role="menu"
          tabIndex={-1}
          aria-label={label ?? 'Menu'}
          className={classes.menu}
          data-above={above || undefined}
          onKeyDown={move}
        >
          {title && <div className={classes.title}>{title}</div>}
          {groups.map((items) => (
            <div key={items[0]?.label} className={classes.group}>
              {items.map((item) => (
                <Item key={item.label} item={item} onDone={close} />
              ))}
            </div>
          ))}
        </div>
      )}
    </div>
  )
}

function Item({ item, onDone }: { item: DropMenuItem; onDone: () => void }) {
  const { label, icon: Glyph, checked, onSelect } = item
  const select = () => {
    onDone()
    onSelect()
  }
  const content = (
    <>
      <Glyph size={16} stroke={1.7} aria-hidden />
      <span className={classes.label}>{label}</span>
      {checked && <IconCheck size={16} aria-hidden />}
    </>
  )
  if (checked === undefined) {
    return (
      <button type="button" role="menuitem" tabIndex={-1} className={classes.item} onClick={select}>
        {content}
      </button>
    )
  }
  return (
    <button
      type="button"
      role="menuitemradio"
      aria-checked={checked}
      tabIndex={-1}
      className={classes.item}
      onClick={select}
    >
      {content}
    </button>
  )
}

function readItems(root: HTMLElement | null): HTMLElement[] {
  return [...(root?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])]
}
