import assert from 'node:assert/strict'
import test from 'node:test'
import { contrast, fromHex, toHex } from './oklch.ts'
import { ACCENT, deriveColors, deriveTokens } from './tokens.ts'

/** The default and colors that somebody could choose as a brand's. */
const ACCENTS = [
  ACCENT,
  '#1d4ed8',
  '#b91c1c',
  '#facc15',
  '#7c3aed',
  '#0ea5e9',
  '#111111',
  '#f5f5f5',
]

test('every text is readable on every ground, with any accent', () => {
  for (const accent of ACCENTS) {
    for (const scheme of ['light', 'dark'] as const) {
      const tokens = deriveTokens(accent, scheme)
      const grounds = [tokens.bg, tokens.panel, tokens.raised]
      for (const name of ['text', 'text2', 'accent', 'good', 'warn', 'bad'] as const) {
        for (const ground of grounds) {
          const ratio = contrast(tokens[name], ground)
          assert.ok(
            ratio >= 4.5,
            `${accent} ${scheme}: ${name} ${tokens[name]} on ${ground}: ${ratio}`,
          )
        }
      }
      for (const ground of grounds) assert.ok(contrast(tokens.focus, ground) >= 3)
      assert.ok(contrast(tokens.accentText, tokens.accent) >= 4.5, `${accent} ${scheme}: button`)
      assert.ok(new Set(Object.values(tokens)).size >= 10)
    }
  }
})

test('highlights and tints are readable with any accent', () => {
  for (const accent of [null, ...ACCENTS]) {
    const { tokens, highlight, tints, steps } = deriveColors(accent ?? ACCENT, accent)
    const dark = [tokens.dark.bg, tokens.dark.panel, tokens.dark.raised]
    for (const ground of dark) assert.ok(contrast(highlight.dark, ground) >= 3, `${accent}`)
    for (const { ground, hover, text } of Object.values(tints)) {
      assert.ok(contrast(text, ground) >= 4.5, `${accent}: ${text} on ${ground}`)
      assert.ok(contrast(text, hover) >= 4.5, `${accent}: ${text} on ${hover}`)
    }
    for (const name of ['pine', 'brass'] as const)
      assert.ok(contrast(steps[name][7] ?? '', '#ffffff') >= 4.5, `${accent} ${name}`)
  }
})

test('a color survives the way to OKLCH and back', () => {
  for (const hex of [...ACCENTS, '#ffffff', '#000000', '#8a3324'])
    assert.equal(toHex(fromHex(hex)), hex)
})

test('known ratios of contrast', () => {
  assert.equal(contrast('#ffffff', '#000000'), 21)
  assert.equal(contrast('#777777', '#ffffff').toFixed(2), '4.48')
})
