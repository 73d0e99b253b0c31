/**
 * Returns the text as a QR code, `data:image/svg+xml;base64,…`. Loads the library at the first
 * call.
 */
export async function qrCode(text: string): Promise<string> {
  const { toString: draw } = await import('qrcode')
  const svg = await draw(text, { type: 'svg', errorCorrectionLevel: 'M', margin: 2 })
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
