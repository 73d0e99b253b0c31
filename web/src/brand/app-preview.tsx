import { Badge, Button, MantineProvider } from '@mantine/core'
import { useId } from 'react'
import { ACCENT, deriveColors, type Scheme } from '../../../src/brand/tokens.ts'
import type { BrandForm, BrandPreview } from '../api/types.ts'
import { Mark } from '../components/logo.tsx'
import { t } from '../language/text.ts'
import { buildTheme, buildVariables } from '../theme/theme.ts'
import classes from './brand.module.css'

const RADIUS = 8

/** The app's header and a few of its parts, in both themes. */
export function AppPreview({ form, preview }: { form: BrandForm; preview: BrandPreview }) {
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
