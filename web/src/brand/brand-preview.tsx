import { SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import type { BrandForm, BrandPreview } from '../api/types.ts'
import { t } from '../language/text.ts'
import { AppPreview } from './app-preview.tsx'
import classes from './brand.module.css'

type BrandPreviewsProps = {
  /** The last form that the service accepted. */
  form: BrandForm
  preview: BrandPreview
}

/** The app, the shop's home page and an email under the brand of the form. */
export function BrandPreviews({ form, preview }: BrandPreviewsProps) {
  const [part, setPart] = useState<'shop' | 'email'>('shop')
  return (
    <>
      <AppPreview form={form} preview={preview} />
      <SegmentedControl
        fullWidth
        aria-label={t('Preview of')}
        data={[
          { value: 'shop', label: t('Shop') },
          { value: 'email', label: t('Email') },
        ]}
        value={part}
        onChange={(value) => setPart(value === 'email' ? 'email' : 'shop')}
      />
      {part === 'email' && (
        <p className={classes.envelope}>
          <b>{preview.email.subject}</b>
          <span>{preview.email.from}</span>
        </p>
      )}
      <iframe
        key={part}
        className={classes.frame}
        title={part === 'shop' ? t('Your shop') : t('An email')}
        sandbox=""
        srcDoc={part === 'shop' ? preview.shop : preview.email.html}
      />
    </>
  )
}
