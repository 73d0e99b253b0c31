/** OLE: encrypted Office documents, and all from before 2007. They are not read, and the error names the format. */
import { Unreadable } from './unreadable.ts'

/** @throws Unreadable always, with advice */
export function parseOle(bytes: Uint8Array, ending: string): never {
  const isEncrypted = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(
    Buffer.from('EncryptedPackage', 'utf16le'),
  )
  throw new Unreadable(
    isEncrypted
      ? 'The document is encrypted and needs a password. Save it without one and send it again.'
      : `The file is in the old .${ending.slice(0, 3)} format. Save it as .${ending} and send it again.`,
  )
}
