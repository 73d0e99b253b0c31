import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useCopy } from '../../components/use-copy.ts'
import { t } from '../../language/text.ts'
import { IconButton } from '../parts/icon-button.tsx'

export function CopyButton({ label, read }: { label: string; read: () => string }) {
  const [hasCopied, copy] = useCopy(read)
  return (
    <IconButton label={hasCopied ? t('Copied') : label} onClick={copy}>
      {hasCopied ? <IconCheck size={17} aria-hidden /> : <IconCopy size={17} aria-hidden />}
    </IconButton>
  )
}
