import type { Locale, Messages } from '#platform/locale.ts'
import { de } from './emails.de.ts'
import { en, type ShopEmailMessages } from './emails.en.ts'

const MESSAGES: Messages<ShopEmailMessages> = { en, de }

/** Returns the texts of the shop's emails in the language of their recipient. */
export const readEmailMessages = (locale: Locale): ShopEmailMessages => MESSAGES[locale]
