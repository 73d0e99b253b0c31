import { contrast, fromHex, type Oklch, reach, toHex } from './oklch.ts'

/** Deep green. Every other color follows from it. */
export const ACCENT = '#1c624e'

export type Scheme = 'light' | 'dark'

/** Of normal text (WCAG 1.4.3), and of what must only be seen, such as a focus ring (1.4.11). */
const READABLE = 4.5
const VISIBLE = 3
/** Warm paper and brass; their hues suit any accent. */
const PAPER = 88
const BRASS = 82
const GREEN = 155
const RED = 27
/** As a graphic on light and on dark pages, and as text. */
const BRASS_LIGHT = '#a97b1c'
const BRASS_DARK = '#e3bb62'
const BRASS_TEXT = '#7d5913'

/**
 * The twelve colors of the app. `bg` is the canvas with the menus, `panel` carries the content,
 * `raised` lies above it: fields, cards, dialogs.
 */
export function deriveTokens(accent: string, scheme: Scheme) {
  const own = fromHex(accent)
  const isLight = scheme === 'light'
  const neutral = (l: number, c: number): Oklch => ({ l, c, h: isLight ? PAPER : own.h })
  const bg = toHex(isLight ? neutral(0.965, 0.009) : neutral(0.185, 0.012))
  const panel = toHex(isLight ? neutral(0.985, 0.005) : neutral(0.215, 0.013))
  const raised = toHex(isLight ? neutral(0.998, 0.002) : neutral(0.255, 0.015))
  const grounds = [bg, panel, raised]
  const readable = (color: Oklch) => reach(color, grounds, READABLE)
  const accentColor = readable(isLight ? own : { ...own, l: Math.max(own.l, 0.74) })
  return {
    bg,
    panel,
    raised,
    line: toHex(isLight ? neutral(0.905, 0.013) : neutral(0.335, 0.018)),
    text: toHex(isLight ? neutral(0.24, 0.012) : neutral(0.935, 0.008)),
    text2: readable(isLight ? neutral(0.49, 0.016) : neutral(0.73, 0.018)),
    accent: accentColor,
    accentText:
      contrast('#ffffff', accentColor) >= READABLE ? '#ffffff' : toHex(neutral(0.2, 0.02)),
    focus: reach({ ...own, l: isLight ? own.l : 0.74 }, grounds, VISIBLE),
    good: readable({ l: isLight ? 0.48 : 0.8, c: 0.11, h: GREEN }),
    warn: readable({ l: isLight ? 0.52 : 0.82, c: 0.11, h: BRASS }),
    bad: readable({ l: isLight ? 0.51 : 0.78, c: isLight ? 0.18 : 0.12, h: RED }),
  }
}

/** Every color of the app. `accent`: null for the built-in brass. */
export function deriveColors(primary: string, accent: string | null) {
  const tokens = { light: deriveTokens(primary, 'light'), dark: deriveTokens(primary, 'dark') }
  const { bg, panel, raised } = tokens.light
  const brass = accent === null ? BRASS_TEXT : reach(fromHex(accent), [bg, panel, raised], READABLE)
  return {
    tokens,
    highlight: { light: accent ?? BRASS_LIGHT, dark: deriveDarkHighlight(accent, tokens.dark) },
    // Of buttons and badges with a light background, on dark pages.
    tints: { pine: deriveTint(primary), brass: deriveTint(brass) },
    steps: {
      pine: deriveSteps(tokens.light.accent),
      brass: deriveSteps(brass),
      red: deriveSteps('#b3261e'),
      ...deriveNeutrals(primary),
    },
  }
}

function deriveDarkHighlight(accent: string | null, { bg, panel, raised }: Tokens): string {
  if (accent === null) return BRASS_DARK
  const own = fromHex(accent)
  return reach({ ...own, l: Math.max(own.l, 0.78) }, [bg, panel, raised], VISIBLE)
}

function deriveTint(color: string) {
  const { c, h } = fromHex(color)
  const ground = toHex({ l: 0.325, c: Math.min(c, 0.045), h })
  const hover = toHex({ l: 0.37, c: Math.min(c, 0.05), h })
  const text = reach({ l: 0.85, c: Math.min(c, 0.06), h }, [ground, hover], READABLE)
  return { ground, hover, text }
}

type Tokens = ReturnType<typeof deriveTokens>
export type Colors = ReturnType<typeof deriveColors>

/** Ten steps of one hue for Mantine's variants, from nearly white to nearly black. */
function deriveSteps(color: string): string[] {
  const { l, c, h } = fromHex(color)
  return STEPS.map((step, at) =>
    at === OWN_STEP
      ? color
      : toHex({ l: step, c: c * (CHROMA[at] ?? 1) * Math.min(1, 0.45 / l), h }),
  )
}

/** Mantine's `gray` for light surfaces and `dark` for dark ones. */
function deriveNeutrals(accent: string): { gray: string[]; dark: string[] } {
  const { h } = fromHex(accent)
  const { text, text2, line, raised, panel, bg } = deriveTokens(accent, 'dark')
  const dark = (l: number) => toHex({ l, c: 0.018, h })
  return {
    gray: GRAYS.map((l) => toHex({ l, c: 0.012, h: PAPER })),
    dark: [text, dark(0.85), text2, dark(0.6), dark(0.42), line, raised, panel, bg, dark(0.15)],
  }
}

const OWN_STEP = 7
const STEPS = [0.965, 0.925, 0.85, 0.765, 0.69, 0.62, 0.545, 0.45, 0.39, 0.32]
const CHROMA = [0.12, 0.25, 0.5, 0.75, 0.95, 1.05, 1.05, 1, 0.9, 0.75]
const GRAYS = [0.975, 0.95, 0.905, 0.86, 0.78, 0.65, 0.49, 0.39, 0.31, 0.24]
