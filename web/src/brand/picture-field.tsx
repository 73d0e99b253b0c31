import { Button } from '@mantine/core'
import { useId, useRef, useState } from 'react'
import { t } from '../language/text.ts'
import classes from './brand.module.css'

type PictureFieldProps = {
  label: string
  description: string
  /** In kilobytes. */
  sizeMax?: number
  accept?: string
  isOnDark?: boolean
  /** A `data:` address; empty: none. */
  value: string
  onChange: (value: string) => void
  error?: string | undefined
}

export function PictureField({
  label,
  description,
  sizeMax = 100,
  accept = 'image/svg+xml,image/png,image/jpeg,image/webp',
  isOnDark = false,
  value,
  onChange,
  error,
}: PictureFieldProps) {
  const id = useId()
  const picker = useRef<HTMLInputElement>(null)
  const [fault, setFault] = useState<string | null>(null)
  const choose = (file: File | undefined) => {
    if (file === undefined) return
    const isSmall = file.size <= sizeMax * 1024
    setFault(isSmall ? null : t('The picture is larger than {0} KB.', sizeMax))
    if (isSmall) void readAsUrl(file).then(onChange)
  }
  const shownFault = fault ?? error
  const action = value === '' ? t('Choose picture') : t('Replace')
  return (
    <fieldset className={classes.picture} aria-describedby={`${id}-about`}>
      <legend>{label}</legend>
      <p id={`${id}-about`}>{description}</p>
      <div className={classes.chosen}>
        {value !== '' && (
          <span className={classes.thumb} data-dark={isOnDark || undefined}>
            <img src={value} alt="" />
          </span>
        )}
        <Button
          variant="default"
          aria-label={`${action}: ${label}`}
          onClick={() => picker.current?.click()}
        >
          {action}
        </Button>
        {value !== '' && (
          <Button
            variant="subtle"
            color="gray"
            aria-label={t('Remove: {0}', label)}
            onClick={() => {
              setFault(null)
              onChange('')
            }}
          >
            {t('Remove')}
          </Button>
        )}
      </div>
      <input
        ref={picker}
        type="file"
        hidden
        accept={accept}
        aria-label={label}
        onChange={(event) => {
          choose(event.currentTarget.files?.[0])
          // The same file can be chosen again after it was changed.
          event.currentTarget.value = ''
        }}
      />
      {shownFault && (
        <p role="alert" className={classes.error}>
          {shownFault}
        </p>
      )}
    </fieldset>
  )
}

function readAsUrl(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.onload = () => resolve(String(reader.result))
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(file)
  return promise
}
