import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { t } from '../language/text.ts'

/** Properties of the dialog, which closes by its button alone. */
export const LOCKED = {
  onClose: () => undefined,
  closeOnClickOutside: false,
  closeOnEscape: false,
  withCloseButton: false,
}

type ShownOnceProps = { confirmation: string; onDone: () => void; children: ReactNode }

/** Secret that is shown once. The button enables after the user confirms that they saved it. */
export function ShownOnce({ confirmation, onDone, children }: ShownOnceProps) {
  const [stored, setStored] = useState(false)
  const box = useRef<HTMLDivElement>(null)

  // The form is gone and the focus with it. Copying is the first action.
  useEffect(() => box.current?.querySelector('button')?.focus(), [])

  // Closing the tab would lose the secret.
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
          {t('Done')}
        </Button>
      </Group>
    </Stack>
  )
}
