import { Alert, Button, Checkbox, Group, Stack } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import type { ApiKeyCreated } from '../api/types.ts'
import { CopyIcon } from '../parts/copy.tsx'
import classes from './shown-key.module.css'

export function ShownKey({ made, onDone }: { made: ApiKeyCreated; onDone: () => void }) {
  const [stored, setStored] = useState(false)

  // Closing the tab would lose the key as surely as closing the dialog.
  useEffect(() => {
    if (stored) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [stored])

  return (
    <Stack>
      <Alert color="brass" icon={<IconAlertTriangle size={20} aria-hidden />}>
        This is the only time it is shown. Put it where you keep secrets, such as a password manager.
      </Alert>
      <Group wrap="nowrap" gap="xs" className={classes.row ?? ''}>
        <code className={classes.key} data-testid="api-key">
          {made.key}
        </code>
        <CopyIcon value={made.key} what="key" />
      </Group>
      <Checkbox
        label="I have stored this key"
        size="md"
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
