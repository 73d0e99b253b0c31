import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'

type ShownOnceProps = { confirmation: string; onDone: () => void; children: ReactNode }

/** A secret that is shown this once: it goes by its own button alone, when its owner says that it is stored. */
export function ShownOnce({ confirmation, onDone, children }: ShownOnceProps) {
  const [stored, setStored] = useState(false)
  const box = useRef<HTMLDivElement>(null)

  // The form that made it is gone, and the keyboard's place with it: the first thing to do now is to copy.
  useEffect(() => box.current?.querySelector('button')?.focus(), [])

  // Closing the tab would lose it as surely as closing the dialog.
  useEffect(() => {
    if (stored) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [stored])

  return (
    <Stack ref={box}>
      {children}
      <Checkbox
        size="md"
        label={confirmation}
        checked={stored}
        onChange={(event) => setStored(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <Button disabled={!stored} onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
