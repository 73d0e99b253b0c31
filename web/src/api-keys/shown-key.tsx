import { Alert, Group } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ApiKeyCreated } from '../api/types.ts'
import { CopyIcon } from '../components/copy.tsx'
import { ShownOnce } from '../components/shown-once.tsx'
import { t } from '../language/text.ts'
import { FirstCall } from './first-call.tsx'
import classes from './shown-key.module.css'
import { SnippetChoice } from './snippets.tsx'

export function ShownKey({ made, onDone }: { made: ApiKeyCreated; onDone: () => void }) {
  const callsModels = made.scopes === undefined || made.scopes.includes('ai')
  return (
    <ShownOnce confirmation={t('I’ve saved this key')} onDone={onDone}>
      <Alert color="brass" icon={<IconAlertTriangle size={20} aria-hidden />}>
        {t('Copy this key now. You won’t see it again.')}
      </Alert>
      <Group wrap="nowrap" gap="xs" className={classes.row ?? ''}>
        <code className={classes.key} data-testid="api-key">
          {made.key}
        </code>
        <CopyIcon value={made.key} what={t('key')} />
      </Group>
      <SnippetChoice apiKey={made.key} />
      {callsModels && <FirstCall keyId={made.id} />}
    </ShownOnce>
  )
}
