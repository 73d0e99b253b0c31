import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

// Deep green, warm paper, brass.
const pine: MantineColorsTuple = [
  '#eef5f2',
  '#dbe9e3',
  '#b6d3c8',
  '#8dbcab',
  '#6aa792',
  '#4d927b',
  '#2f7a62',
  '#1c624e',
  '#174f40',
  '#0e3a2e',
]
const brass: MantineColorsTuple = [
  '#fcf6e8',
  '#f6e9cb',
  '#edd39a',
  '#e3bb62',
  '#d8a743',
  '#c4902c',
  '#a3761e',
  '#7d5913',
  '#62460f',
  '#443009',
]
const gray: MantineColorsTuple = [
  '#f8f6f0',
  '#f1eee6',
  '#e6e2d8',
  '#d8d3c6',
  '#bfb9aa',
  '#989283',
  '#666156',
  '#4b473f',
  '#343129',
  '#221f1a',
]
const dark: MantineColorsTuple = [
  '#e7ebe6',
  '#c9d0cb',
  '#a5b0ab',
  '#7b8883',
  '#42504c',
  '#313d3a',
  '#1d2624',
  '#131a18',
  '#0e1412',
  '#090d0c',
]

const red: MantineColorsTuple = [
  '#fdf0ee',
  '#fadbd7',
  '#f4b7b0',
  '#ee9187',
  '#e86f63',
  '#e0554a',
  '#c93a30',
  '#b3261e',
  '#941b14',
  '#74100b',
]

/**
 * Without this role, screen readers would announce a dialog's `header` as a second banner of the
 * page.
 */
const dialog = {
  closeButtonProps: { 'aria-label': 'Close' },
  attributes: { header: { role: 'presentation' } },
}

export const theme = createTheme({
  colors: { pine, brass, gray, dark, red },
  primaryColor: 'pine',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  black: '#1b1f1c',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily:
    '"Inter Variable", ui-sans-serif, system-ui, -apple-system, "Segoe UI Variable Text", "Segoe UI", "Noto Sans", sans-serif',
  fontFamilyMonospace:
    '"JetBrains Mono", ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "Noto Sans Mono", monospace',
  headings: {
    fontFamily:
      'ui-serif, "Iowan Old Style", "Palatino Linotype", Palatino, "URW Palladio L", P052, "Book Antiqua", Georgia, serif',
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '2.125rem', lineHeight: '1.15' },
      h2: { fontSize: '1.5rem', lineHeight: '1.25' },
      h3: { fontSize: '1.1875rem', lineHeight: '1.35' },
    },
  },
  radius: { xs: '4px', sm: '6px', md: '10px', lg: '16px', xl: '28px' },
  // Plain objects, because importing the components would load all of them with the first page.
  components: {
    Button: { defaultProps: { size: 'md' } },
    ActionIcon: { defaultProps: { size: 44, variant: 'subtle', color: 'gray' } },
    Input: { defaultProps: { size: 'md' } },
    InputWrapper: { defaultProps: { size: 'md' } },
    // Fields detect the writing direction from their first letter.
    TextInput: { defaultProps: { size: 'md', dir: 'auto' } },
    PasswordInput: { defaultProps: { size: 'md', rightSectionWidth: 48 } },
    NumberInput: { defaultProps: { size: 'md' } },
    Select: { defaultProps: { size: 'md', allowDeselect: false } },
    Textarea: { defaultProps: { size: 'md', dir: 'auto' } },
    // Color alone must not distinguish a link (WCAG 1.4.1).
    Anchor: { defaultProps: { underline: 'always' } },
    // Same target size as every other button.
    CloseButton: { defaultProps: { size: 44, iconSize: 18 } },
    Badge: { defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fw: 600 } },
    Card: { defaultProps: { withBorder: true, padding: 'lg', radius: 'lg' } },
    Paper: { defaultProps: { radius: 'lg' } },
    Drawer: { defaultProps: dialog },
    Modal: { defaultProps: { ...dialog, centered: true, radius: 'lg', padding: 'lg' } },
    Skeleton: { defaultProps: { radius: 'md' } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300 } },
    Loader: { defaultProps: { type: 'dots' } },
  },
})

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-body': '#f8f6f0',
    '--mantine-color-placeholder': gray[6],
    '--mantine-color-dimmed': gray[6],
    '--mantine-color-error': '#b3261e',
    '--latch-surface': '#fffefb',
    '--latch-line': gray[2],
    '--latch-accent': brass[7],
    '--latch-brass': '#a97b1c',
    '--latch-wash': '#efeadd',
    '--latch-code-keyword': '#8a3324',
    '--latch-code-string': '#1c624e',
    '--latch-code-number': '#7d5913',
    '--latch-code-name': '#2b4f8c',
  },
  dark: {
    '--mantine-color-body': dark[7],
    '--mantine-color-placeholder': dark[2],
    '--mantine-color-dimmed': dark[2],
    '--mantine-color-error': '#ff9c90',
    '--mantine-color-disabled': dark[5],
    '--mantine-color-pine-light': '#1c3a31',
    '--mantine-color-pine-light-hover': '#22463b',
    '--mantine-color-pine-light-color': '#b6d3c8',
    '--mantine-primary-color-light': '#1c3a31',
    '--mantine-primary-color-light-hover': '#22463b',
    '--mantine-primary-color-light-color': '#b6d3c8',
    '--mantine-color-brass-light': '#3a3019',
    '--mantine-color-brass-light-hover': '#463a1e',
    '--mantine-color-brass-light-color': brass[2],
    '--latch-surface': dark[6],
    '--latch-line': dark[5],
    '--latch-accent': brass[3],
    '--latch-brass': brass[3],
    '--latch-wash': '#18211f',
    '--latch-code-keyword': '#f0a08f',
    '--latch-code-string': '#8dd0b4',
    '--latch-code-number': '#e3bb62',
    '--latch-code-name': '#a9c4f2',
  },
})
