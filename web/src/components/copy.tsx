import { ActionIcon, Button } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { t } from '../language/text.ts'
import { useCopy } from './use-copy.ts'

/** Button that copies a value and shows when it has. */
export function CopyIcon({ value, what }: { value: string; what: string }) {
  const [hasCopied, copy] = useCopy(() => value)
  const label = hasCopied ? t('Copied') : t('Copy {0}', what)
  return (
    <ActionIcon onClick={copy} aria-label={label} title={label}>
      {hasCopied ? <IconCheck size={18} aria-hidden /> : <IconCopy size={18} aria-hidden />}
    </ActionIcon>
  )
}

export function CopyText({ value, children }: { value: string; children: string }) {
  const [hasCopied, copy] = useCopy(() => value)
  return (
    <Button
      variant="default"
      onClick={copy}
      leftSection={
        hasCopied ? <IconCheck size={18} aria-hidden /> : <IconCopy size={18} aria-hidden />
      }
    >
      {hasCopied ? t('Copied') : children}
    </Button>
  )
}
