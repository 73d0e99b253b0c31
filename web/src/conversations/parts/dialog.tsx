import { IconX } from '@tabler/icons-react'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { t } from '../../language/text.ts'
import classes from './dialog.module.css'
import { IconButton } from './icon-button.tsx'

type DialogProps = { title: string; onClose: () => void; children: ReactNode }

/** Modal dialog. The browser keeps the focus inside, and returns it afterwards. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    const opener = document.activeElement
    const region = opener?.closest<HTMLElement>('section, main')
    element?.showModal()
    return () => {
      // Closing returns the focus, which removing an open dialog would lose.
      element?.close()
      // A row or a button that leaves with the dialog is removed after this.
      setTimeout(() => {
        const isLost = document.activeElement === document.body
        if (isLost && opener?.isConnected === false) focusRegion(region)
      })
    }
  }, [])
  return (
    // A click on the backdrop hits the dialog itself. Escape does the same.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above.
    <dialog
      ref={dialog}
      className={classes.dialog}
      aria-label={title}
      onClose={() => !dialog.current?.open && onClose()}
      onClick={(event) => event.target === event.currentTarget && dialog.current?.close()}
    >
      <div className={classes.content}>
        <header className={classes.head}>
          <h2>{title}</h2>
          <IconButton
            label={t('Close')}
            data-tip-side="below"
            data-tip-align="end"
            onClick={() => dialog.current?.close()}
          >
            <IconX size={19} aria-hidden />
          </IconButton>
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** Moves the focus to where a button was, such as the one that deleted its own row. */
function focusRegion(region: HTMLElement | null | undefined): void {
  const target = region?.isConnected ? region : document.getElementById('main')
  if (!target) return
  target.tabIndex = -1
  target.focus({ preventScroll: true })
}
