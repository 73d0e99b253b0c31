import { ActionIcon, Button } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { t } from '../language/text.ts'

const SHOWN_MS = 1_500

/** Button that copies a value and shows when it has. */
export function CopyIcon({ value, what }: { value: string; what: string }) {
  const [hasCopied, copy] = useCopy(value)
  const label = hasCopied ? t('Copied') : t('Copy {0}', what)
  return (
    <ActionIcon onClick={copy} aria-label={label} title={label}>
      {hasCopied ? <IconCheck size={18} aria-hidden /> : <IconCopy size={18} aria-hidden />}
    </ActionIcon>
  )
}

export function CopyText({ value, children }: { value: string; children: string }) {
  const [hasCopied, copy] = useCopy(value)
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

function useCopy(value: string): [hasCopied: boolean, copy: () => void] {
  const [hasCopied, setHasCopied] = useState(false)
  useEffect(() => {
    if (!hasCopied) return
    const timer = setTimeout(() => setHasCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [hasCopied])
  // Browsers have no clipboard on pages without TLS, and people can forbid it.
  const copy = () =>
    void navigator.clipboard?.writeText(value).then(
      () => setHasCopied(true),
      () => {},
    )
  return [hasCopied, copy]
}
