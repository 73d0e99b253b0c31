// Colors by lightness, chroma and hue as the eye sees them (https://bottosson.github.io/posts/oklab/).

type Rgb = [red: number, green: number, blue: number]
export type Oklch = { l: number; c: number; h: number }

const STEP = 0.005

/** Returns the nearest color that a screen shows: of less chroma where there is too much. */
export function toHex({ l, c, h }: Oklch): string {
  let chroma = c
  while (chroma > 0 && !toLinear(l, chroma, h).every((part) => part > -0.0005 && part < 1.0005))
    chroma -= STEP
  const parts = toLinear(l, Math.max(0, chroma), h).map((part) =>
    Math.round(255 * encode(Math.min(1, Math.max(0, part))))
      .toString(16)
      .padStart(2, '0'),
  )
  return `#${parts.join('')}`
}

export function fromHex(hex: string): Oklch {
  const [r, g, b] = readLinear(hex)
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s
  const bb = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  return {
    l: 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    c: Math.hypot(a, bb),
    h: ((Math.atan2(bb, a) * 180) / Math.PI + 360) % 360,
  }
}

/** WCAG's contrast ratio, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

/**
 * Returns the color itself if it is readable on all grounds, otherwise the nearest lightness that
 * is.
 */
export function reach(color: Oklch, grounds: readonly string[], ratio: number): string {
  const direction = luminance(grounds[0] ?? '#ffffff') > 0.2 ? -STEP : STEP
  let { l } = color
  while (
    l > 0 &&
    l < 1 &&
    grounds.some((ground) => contrast(toHex({ ...color, l }), ground) < ratio)
  )
    l += direction
  return toHex({ ...color, l: Math.min(1, Math.max(0, l)) })
}

function luminance(hex: string): number {
  const [r, g, b] = readLinear(hex)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function readLinear(hex: string): Rgb {
  return [1, 3, 5].map((at) => decode(Number.parseInt(hex.slice(at, at + 2), 16) / 255)) as Rgb
}

function toLinear(lightness: number, c: number, h: number): Rgb {
  const a = c * Math.cos((h * Math.PI) / 180)
  const b = c * Math.sin((h * Math.PI) / 180)
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
}

function encode(part: number): number {
  return part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055
}

function decode(part: number): number {
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
}
