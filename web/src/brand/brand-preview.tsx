import { Badge, Button, MantineProvider, SegmentedControl } from '@mantine/core'
import { useId, useState } from 'react'
import { ACCENT, deriveColors, type Scheme } from '../../../src/brand/tokens.ts'
import type { BrandForm, BrandPreview } from '../api/types.ts'
import { Mark } from '../components/logo.tsx'
import { t } from '../language/text.ts'
import { buildTheme, buildVariables } from '../theme/theme.ts'
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

const RADIUS = 8

/** The app's header and a few of its parts, in both themes. */
function AppPreview({ form, preview }: { form: BrandForm; preview: BrandPreview }) {
  const { primary = ACCENT, accent = null } = form.colours ?? {}
  const look = { colours: deriveColors(primary, accent), radius: form.radius ?? RADIUS }
  return (
    <div className={classes.apps} inert>
      {(['light', 'dark'] as const).map((scheme) => (
        <AppPart key={scheme} scheme={scheme} look={look} preview={preview} />
      ))}
    </div>
  )
}

type AppPartProps = {
  scheme: Scheme
  look: Parameters<typeof buildTheme>[0]
  preview: BrandPreview
}

function AppPart({ scheme, look, preview: { name, logo } }: AppPartProps) {
  const id = useId()
  const picture = logo[scheme]
  return (
    <div id={id} className={classes.app} data-mantine-color-scheme={scheme}>
      <MantineProvider
        theme={buildTheme(look)}
        cssVariablesResolver={buildVariables(look)}
        cssVariablesSelector={`[id="${id}"]`}
        deduplicateCssVariables={false}
        forceColorScheme={scheme}
        getRootElement={() => document.getElementById(id) ?? undefined}
      >
        <div className={classes.bar}>
          {picture === null ? (
            <span className={classes.wordmark}>
              <Mark size={26} src={logo.square} />
              {name}
            </span>
          ) : (
            <img src={picture} alt={name} height={28} />
          )}
        </div>
        <div className={classes.parts}>
          <Button>{t('Create key')}</Button>
          <Button variant="light">{t('Open')}</Button>
          <Badge>{t('Pro')}</Badge>
          <Badge color="brass">{t('Trial')}</Badge>
          <span className={classes.link}>{t('A link')}</span>
        </div>
      </MantineProvider>
    </div>
  )
}
