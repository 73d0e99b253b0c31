import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'

type ShownOnceProps = { confirmation: string; onDone: () => void; children: ReactNode }

/** A secret that is shown this once: it goes by its own button alone, when its owner says that it is stored. */
export function ShownOnce({ confirmation, onDone, children }: ShownOnceProps) {
  const [stored, setStored] = useState(false)

  // Closing the tab would lose it as surely as closing the dialog.
  useEffect(() => {
    if (stored) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [stored])

  return (
    <Stack>
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
