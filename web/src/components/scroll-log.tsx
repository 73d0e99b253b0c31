import { Button } from '@mantine/core'
import { IconArrowDown } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './scroll-log.module.css'
import type { StickToBottom } from './stick-to-bottom.ts'

type ScrollLogProps = { label: string; busy: boolean; stick: StickToBottom; children: ReactNode }

/** Scrolling log that follows its end, with a button to return there. */
export function ScrollLog({ label, busy, stick, children }: ScrollLogProps) {
  return (
    <div className={classes.frame}>
      <div
        ref={stick.box}
        onScroll={stick.onScroll}
        className={classes.scroll}
        role="log"
        aria-label={label}
        aria-busy={busy}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard.
        tabIndex={0}
      >
        <div ref={stick.content} className={classes.content}>
          {children}
        </div>
      </div>
      {stick.away && (
        <Button
          className={classes.jump ?? ''}
          variant="default"
          radius="xl"
          leftSection={<IconArrowDown size={18} aria-hidden />}
          onClick={() => {
            stick.jump()
            stick.box.current?.focus({ preventScroll: true })
          }}
        >
          Jump to latest
        </Button>
      )}
    </div>
  )
}
