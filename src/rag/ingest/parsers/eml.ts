// Emails (RFC 5322, MIME): subject as the heading, addresses, date, body. Attachments are named.
import PostalMime, { type Address, type Email } from 'postal-mime'
import { htmlToMarkdown } from './html.ts'
import { PICTURES, type Reading, Unreadable, type Warning } from './unreadable.ts'

const NESTING_MAX = 50
const HEADERS_BYTES_MAX = 2_000_000
const NAMED_MAX = 20

/** @throws Unreadable for other files and for encrypted emails */
export async function parseEml(bytes: Uint8Array): Promise<Reading> {
  const email = await readEmail(bytes)
  if (!email.from && !email.to && !email.date && email.subject === undefined)
    throw new Unreadable('The file is named .eml but is not an email.')
  if (email.attachments.some(isCiphertext))
    throw new Unreadable('The email is encrypted. Save it without encryption and send it again.')

  const page = email.html === undefined ? null : htmlToMarkdown(email.html)
  const body = page?.text || email.text?.trim() || ''
  const heading =
    email.subject === undefined ? '' : `# ${email.subject.replace(/\s+/g, ' ').trim()}`
  return {
    text: [heading, writeHead(email), body].filter((part) => part !== '').join('\n\n'),
    warnings: [...(page?.hasPictures ? [PICTURES] : []), ...attachmentsLeftOut(email)],
  }
}

async function readEmail(bytes: Uint8Array): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, {
      maxNestingDepth: NESTING_MAX,
      maxHeadersSize: HEADERS_BYTES_MAX,
    })
  } catch (cause) {
    if (/nesting|header/i.test(String(cause)))
      throw new Unreadable('The email is nested too deeply to be read.', { cause })
    throw cause
  }
}

function writeHead({ from, to, cc, date }: Email): string {
  const lines: [string, string][] = [
    ['From', writeAddresses(from ? [from] : [])],
    ['To', writeAddresses(to)],
    ['Cc', writeAddresses(cc)],
    ['Date', date ?? ''],
  ]
  return lines.flatMap(([name, value]) => (value === '' ? [] : `${name}: ${value}`)).join('\n')
}

function writeAddresses(addresses: readonly Address[] = []): string {
  return addresses
    .map(({ name, address, group }) => {
      if (group) return `${name}: ${writeAddresses(group)}`
      return name && name !== address ? `${name} <${address}>` : (address ?? '')
    })
    .join(', ')
}

const isCiphertext = ({ mimeType }: Email['attachments'][number]) =>
  mimeType === 'application/pgp-encrypted' || /^application\/(?:x-)?pkcs7-mime$/.test(mimeType)

/** Pictures in a signature do not count as attachments. */
function attachmentsLeftOut({ attachments }: Email): Warning[] {
  const files = attachments.filter(
    ({ related, mimeType }) => !(related && mimeType.startsWith('image/')),
  )
  if (files.length === 0) return []
  const names = files
    .slice(0, NAMED_MAX)
    .map(({ filename, mimeType }) => (filename ?? mimeType).slice(0, 200))
  const more = files.length > NAMED_MAX ? ` and ${files.length - NAMED_MAX} more` : ''
  return [
    {
      page: null,
      reason: `Attachments are left out: ${names.join(', ')}${more}. Upload them on their own.`,
    },
  ]
}
