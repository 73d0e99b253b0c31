import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react'
import classes from './popover.module.css'

const GAP_PX = 8

/** The attributes of the button that opens the popover, and its state. */
export type PopoverTarget = {
  popoverTarget: string
  'aria-expanded': boolean
  'aria-haspopup': 'dialog' | 'menu'
  ref: RefObject<HTMLButtonElement | null>
}

type PopoverProps = {
  label: string
  /** The content is a menu, rather than a dialog. */
  isMenu?: boolean
  /** Renders the button. */
  button: (target: PopoverTarget) => ReactNode
  /** Rendered while open. */
  children: (close: () => void) => ReactNode
  width?: number
}

/**
 * Opens beside its button, in the browser’s top layer: the browser closes it on Escape and on a
 * click elsewhere, and returns the focus.
 */
export function Popover({ label, isMenu = false, button, children, width = 340 }: PopoverProps) {
  const id = useId()
  const [isOpen, setIsOpen] = useState(false)
  const anchor = useRef<HTMLButtonElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const close = () => box.current?.hidePopover()

  useEffect(() => {
    if (!isOpen) return
    const shut = () => box.current?.hidePopover()
    addEventListener('resize', shut)
    return () => removeEventListener('resize', shut)
  }, [isOpen])

  return (
    <>
      {button({
        popoverTarget: id,
        'aria-expanded': isOpen,
        'aria-haspopup': isMenu ? 'menu' : 'dialog',
        ref: anchor,
      })}
      <div
        id={id}
        ref={box}
        popover="auto"
        {...(isMenu ? {} : { role: 'dialog', 'aria-label': label })}
        className={classes.box}
        style={{ width: `min(${width}px, 100vw - 16px)` }}
        onBeforeToggle={({ newState }) => {
          if (newState === 'open' && anchor.current && box.current) {
            place(box.current, anchor.current.getBoundingClientRect(), width)
          }
        }}
        onToggle={({ newState }) => setIsOpen(newState === 'open')}
      >
        {isOpen && children(close)}
      </div>
    </>
  )
}

/** Places the box above or below its button, where there is more room. */
function place(box: HTMLElement, button: DOMRect, width: number): void {
  const { innerWidth, innerHeight } = window
  const wide = Math.min(width, innerWidth - 2 * GAP_PX)
  const left = Math.max(GAP_PX, Math.min(button.left, innerWidth - wide - GAP_PX))
  const isAbove = button.top > innerHeight - button.bottom
  const room = (isAbove ? button.top : innerHeight - button.bottom) - 2 * GAP_PX
  Object.assign(box.style, {
    left: `${left}px`,
    top: isAbove ? 'auto' : `${button.bottom + GAP_PX}px`,
    bottom: isAbove ? `${innerHeight - button.top + GAP_PX}px` : 'auto',
    maxHeight: `${Math.min(room, 460)}px`,
  })
}
