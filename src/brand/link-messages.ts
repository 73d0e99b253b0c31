import type { Messages } from '#platform/locale.ts'
import { LINK_LABELS, type LinkName } from './links.ts'

/** The labels of the operator's pages. The app imports only the English ones. */
export const LINK_MESSAGES: Messages<Record<LinkName, string>> = {
  en: LINK_LABELS,
  de: {
    docs: 'Dokumentation',
    status: 'Betriebsstatus',
    support: 'Hilfe',
    terms: 'AGB',
    privacy: 'Datenschutz',
    imprint: 'Impressum',
  },
}
