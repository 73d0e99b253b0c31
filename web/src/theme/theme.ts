import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'
import type { PageBrand } from '../../../src/brand/page-brand.ts'
import type { Colors, Scheme } from '../../../src/brand/tokens.ts'
import { t } from '../language/text.ts'

const asTuple = (colors: string[]) => colors as unknown as MantineColorsTuple

const SANS =
  '"Inter Variable", ui-sans-serif, system-ui, -apple-system, "Segoe UI Variable Text", "Segoe UI", "Noto Sans", sans-serif'
const SERIF = '"Source Serif 4", ui-serif, "Iowan Old Style", Palatino, Georgia, serif'
const MONO =
  '"JetBrains Mono", ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "Noto Sans Mono", monospace'

/**
 * Without this role, screen readers would announce a dialog's `header` as a second banner of the
 * page.
 */
const dialog = {
  closeButtonProps: { 'aria-label': t('Close') },
  attributes: { header: { role: 'presentation' } },
}

type Look = Pick<PageBrand, 'colours' | 'radius'>

export const buildTheme = ({ colours: { tokens, steps }, radius }: Look) =>
  createTheme({
    colors: {
      pine: asTuple(steps.pine),
      brass: asTuple(steps.brass),
      red: asTuple(steps.red),
      gray: asTuple(steps.gray),
      dark: asTuple(steps.dark),
    },
    primaryColor: 'pine',
    primaryShade: { light: 7, dark: 6 },
    autoContrast: true,
    black: tokens.light.text,
    defaultRadius: 'md',
    cursorType: 'pointer',
    respectReducedMotion: true,
    fontFamily: SANS,
    fontFamilyMonospace: MONO,
    fontSizes: {
      xs: '0.75rem',
      sm: '0.8125rem',
      md: '0.9375rem',
      lg: '1.0625rem',
      xl: '1.25rem',
    },
    headings: {
      fontFamily: SANS,
      fontWeight: '600',
      sizes: {
        h1: { fontSize: '1.5rem', lineHeight: '1.3' },
        h2: { fontSize: '1.1875rem', lineHeight: '1.35' },
        h3: { fontSize: '1rem', lineHeight: '1.45' },
      },
    },
    radius: {
      xs: `${radius / 2}px`,
      sm: `${radius * 0.75}px`,
      md: `${radius}px`,
      lg: `${radius * 1.5}px`,
      xl: `${radius * 3}px`,
    },
    // Plain objects, because importing the components would load all of them with the first page.
    components: {
      Button: { defaultProps: { size: 'sm' } },
      ActionIcon: { defaultProps: { size: 36, variant: 'subtle', color: 'gray' } },
      // Fields detect the writing direction from their first letter.
      TextInput: { defaultProps: { dir: 'auto' } },
      PasswordInput: {
        defaultProps: {
          rightSectionWidth: 48,
          visibilityToggleButtonProps: { 'aria-label': t('Toggle password visibility') },
        },
      },
      Select: { defaultProps: { allowDeselect: false } },
      Textarea: { defaultProps: { dir: 'auto' } },
      // Color alone must not distinguish a link (WCAG 1.4.1).
      Anchor: { defaultProps: { underline: 'always' } },
      CloseButton: { defaultProps: { size: 36, iconSize: 18 } },
      Badge: { defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fw: 550 } },
      Card: { defaultProps: { withBorder: true, padding: 'lg', radius: 'lg' } },
      Paper: { defaultProps: { radius: 'lg' } },
      // Rows of 36 px: text of 20 px between two gaps of 8 px.
      Table: { defaultProps: { fz: 'sm', verticalSpacing: 8, horizontalSpacing: 'sm' } },
      Drawer: { defaultProps: dialog },
      Modal: { defaultProps: { ...dialog, centered: true, radius: 'lg', padding: 'lg' } },
      Skeleton: { defaultProps: { radius: 'md' } },
      Tooltip: { defaultProps: { withArrow: true, openDelay: 300 } },
      Loader: { defaultProps: { type: 'dots' } },
    },
  })

/** Colors of code, as readable as text on `wash`. */
const CODE = {
  light: { keyword: '#8a3324', string: '#1c624e', number: '#7d5913', name: '#2b4f8c' },
  dark: { keyword: '#f0a08f', string: '#8dd0b4', number: '#e3bb62', name: '#a9c4f2' },
}

export const buildVariables =
  ({ colours: { tokens, highlight, tints } }: Look): CSSVariablesResolver =>
  () => ({
    variables: { '--latch-display': SERIF, '--latch-glow': highlight.dark },
    light: {
      ...nameColors('light', tokens.light),
      '--latch-brass': highlight.light,
      '--latch-wash': '#f1ede4',
    },
    dark: {
      ...nameColors('dark', tokens.dark),
      '--latch-brass': highlight.dark,
      '--latch-wash': '#1a2320',
      '--mantine-color-disabled': tokens.dark.line,
      ...nameTint('--mantine-color-pine-light', tints.pine),
      ...nameTint('--mantine-primary-color-light', tints.pine),
      ...nameTint('--mantine-color-brass-light', tints.brass),
    },
  })

function nameTint(name: string, { ground, hover, text }: Colors['tints']['pine']) {
  return { [name]: ground, [`${name}-hover`]: hover, [`${name}-color`]: text }
}

function nameColors(scheme: Scheme, own: Colors['tokens'][Scheme]): Record<string, string> {
  const { keyword, string, number, name } = CODE[scheme]
  return {
    '--mantine-color-body': own.panel,
    '--mantine-color-text': own.text,
    '--mantine-color-dimmed': own.text2,
    '--mantine-color-placeholder': own.text2,
    '--mantine-color-error': own.bad,
    '--latch-canvas': own.bg,
    '--latch-panel': own.panel,
    '--latch-surface': own.raised,
    '--latch-line': own.line,
    '--latch-text-2': own.text2,
    '--latch-accent': own.accent,
    '--latch-accent-text': own.accentText,
    '--latch-focus': own.focus,
    '--latch-good': own.good,
    '--latch-warn': own.warn,
    '--latch-bad': own.bad,
    '--latch-code-keyword': keyword,
    '--latch-code-string': string,
    '--latch-code-number': number,
    '--latch-code-name': name,
  }
}
