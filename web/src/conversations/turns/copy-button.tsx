import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { t } from '../../language/text.ts'
import { IconButton } from '../parts/icon-button.tsx'

const SHOWN_MS = 1_500

export function CopyButton({ label, read }: { label: string; read: () => string }) {
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <IconButton
      label={isCopied ? t('Copied') : label}
      onClick={() => void navigator.clipboard.writeText(read()).then(() => setIsCopied(true))}
    >
      {isCopied ? <IconCheck size={17} aria-hidden /> : <IconCopy size={17} aria-hidden />}
    </IconButton>
  )
}
