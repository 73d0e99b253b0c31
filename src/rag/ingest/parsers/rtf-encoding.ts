/** Code pages of RTF by number and by `\fcharset` of fonts (RTF 1.9.1, "Font Table"). */
import { Unreadable } from './unreadable.ts'

const labels: Record<number, string> = {
  866: 'ibm866',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10000: 'macintosh',
  10007: 'x-mac-cyrillic',
  20866: 'koi8-r',
  21866: 'koi8-u',
  54936: 'gb18030',
  65001: 'utf-8',
}

/** The upper halves of the code pages of DOS, which TextDecoder does not support. */
const dosLetters: Record<number, string> = {
  437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
    '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
    '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
}

const codePages: Record<number, number> = {
  0: 1252,
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
  254: 437,
  255: 850,
}

/** The code page of fonts with pictures instead of letters, such as Symbol and Wingdings. */
export const SYMBOL_PAGE = 42
const SYMBOL_CHARSET = 2

/** Returns the code page of a font; undefined where the font uses the document's. */
export function findCodePage(charset: number): number | undefined {
  return charset === SYMBOL_CHARSET ? SYMBOL_PAGE : codePages[charset]
}

type Decode = (bytes: Uint8Array) => string
const decoders = new Map<number, Decode | null>()

/** @throws Unreadable for bytes beyond ASCII in a code page that has no decoder */
export function decodeBytes(bytes: Uint8Array, codePage: number): string {
  let decode = decoders.get(codePage)
  if (decode === undefined) {
    decode = createDecoder(codePage)
    decoders.set(codePage, decode)
  }
  if (decode !== null) return decode(bytes)
  if (bytes.some((byte) => byte > 0x7f))
    throw new Unreadable(
      `The document uses code page ${codePage}, which cannot be read. Save it as .docx and upload it again.`,
    )
  return new TextDecoder().decode(bytes)
}

function createDecoder(codePage: number): Decode | null {
  const letters = dosLetters[codePage]
  if (letters !== undefined)
    return (bytes) =>
      Array.from(bytes, (byte) =>
        byte < 0x80 ? String.fromCharCode(byte) : letters.charAt(byte - 0x80),
      ).join('')
  const isoPart = codePage - 28_590
  const label =
    labels[codePage] ??
    (codePage >= 1250 && codePage <= 1258 ? `windows-${codePage}` : `iso-8859-${isoPart}`)
  try {
    // A text may start with U+FEFF in the middle of a document.
    const decoder = new TextDecoder(label, { ignoreBOM: true })
    return (bytes) => decoder.decode(bytes)
  } catch {
    return null
  }
}
