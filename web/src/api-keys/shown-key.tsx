import { Alert, Group } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ApiKeyCreated } from '../api/types.ts'
import { CopyIcon } from '../components/copy.tsx'
import { ShownOnce } from '../components/shown-once.tsx'
import classes from './shown-key.module.css'
import { SnippetChoice } from './snippets.tsx'

export function ShownKey({ made, onDone }: { made: ApiKeyCreated; onDone: () => void }) {
  return (
    <ShownOnce confirmation="I have stored this key" onDone={onDone}>
      <Alert color="brass" icon={<IconAlertTriangle size={20} aria-hidden />}>
        This is the only time it is shown. Put it where you keep secrets, such as a password
        manager.
      </Alert>
      <Group wrap="nowrap" gap="xs" className={classes.row ?? ''}>
        <code className={classes.key} data-testid="api-key">
          {made.key}
        </code>
        <CopyIcon value={made.key} what="key" />
      </Group>
      <SnippetChoice apiKey={made.key} />
    </ShownOnce>
  )
}
