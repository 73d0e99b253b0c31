import type { PlanModel } from '#ai/plan-models.ts'
import type { Part as ServicePart } from '#config/config.ts'
import { type Html, html } from '#platform/http/html.ts'
import type { Messages } from '#platform/locale.ts'
import type { Audience } from './docs/library.ts'
import type { Part, State } from './status.ts'

/** Texts of the pages of models, of the status and around the documentation. */
const en = {
  models: {
    title: 'Models',
    none: 'No models are available at the moment.',
    lead: (count: number, day: string) =>
      `${count} models from one account. Prices are in US dollars per million tokens, as of ${day}.`,
    description: (brand: string, vendors: string) =>
      `The models of ${brand}, with prices and context: ${vendors}.`,
    ofVendor: (vendor: string) => `Models of ${vendor}`,
    columns: ['Model', 'Kind', 'Context', 'Input', 'Output', 'Plans'],
    kinds: { chat: 'chat', embedding: 'embedding', rerank: 'rerank' } as Record<
      PlanModel['kind'],
      string
    >,
    unknown: 'unknown',
    found: (count: number) =>
      count === 0 ? 'No model matches.' : count === 1 ? '1 model' : `${count} models`,
    placeholder: 'Name, vendor, kind or plan',
    searchModels: 'Search the models',
    search: 'Search',
    showAll: 'Show all',
  },

  status: {
    title: 'Status',
    description: (brand: string) =>
      `What works at ${brand} now, and incidents of the last 24 hours.`,
    checkedAt: (time: Html) => html`Checked at ${time}.`,
    everythingWorks: 'Everything works',
    someDown: 'Some parts do not work',
    someLimited: 'Some parts work only partly',
    services: 'Services',
    models: 'Models',
    website: 'Website and shop',
    parts: {
      app: 'App and API',
      changes: 'Saving changes',
      email: 'Emails',
      payments: 'Payments',
    } as Record<Part['name'], string>,
    states: {
      works: 'Works',
      limited: 'Partly',
      paused: 'Paused',
      down: 'Does not work',
      unknown: 'Unknown',
    } as Record<State, string>,
    incidents: 'Incidents',
    none: 'None in the last 24 hours.',
    stoppable: {
      api: 'App and API',
      storefront: 'Website and shop',
      worker: 'Background jobs',
    } as Record<ServicePart, string>,
    stopped: (what: string) => html`<strong>${what}</strong>: not available.`,
    paused: (what: string) => html`<strong>${what}</strong> is paused.`,
    failed: (what: string, percent: number) =>
      html`<strong>${what}</strong>: ${percent} % of calls failed.`,
    since: (from: Html) => html`Since ${from}`,
    span: (from: Html, until: Html) => html`${from} to ${until}`,
  },

  docs: {
    title: 'Documentation',
    /** Says that the texts are in another language than the page around them. */
    note: null as string | null,
    groups: { everyone: 'Guides', operator: 'Operating' } as Record<Audience, string>,
    reference: 'API reference',
    referenceTask: 'Look up every operation, with examples',
    searchTitle: 'Search the documentation',
    search: 'Search',
    noWords: 'Enter one or more words.',
    noResults: 'No section contains all of these words.',
    results: (count: number) => (count === 1 ? '1 result' : `${count} results`),
    allPages: 'All pages',
    nextPages: 'Next pages',
    previous: 'Previous',
    next: 'Next',
  },
}

const de: typeof en = {
  models: {
    title: 'Modelle',
    none: 'Zurzeit sind keine Modelle verfügbar.',
    lead: (count, day) =>
      `${count} Modelle mit einem Konto. Preise in US-Dollar pro Million Token, Stand ${day}.`,
    description: (brand, vendors) =>
      `Die Modelle von ${brand} mit Preisen und Kontext: ${vendors}.`,
    ofVendor: (vendor) => `Modelle von ${vendor}`,
    columns: ['Modell', 'Art', 'Kontext', 'Eingabe', 'Ausgabe', 'Tarife'],
    kinds: { chat: 'Chat', embedding: 'Embedding', rerank: 'Reranking' },
    unknown: 'unbekannt',
    found: (count) =>
      count === 0 ? 'Kein Modell passt.' : count === 1 ? '1 Modell' : `${count} Modelle`,
    placeholder: 'Name, Anbieter, Art oder Tarif',
    searchModels: 'Modelle durchsuchen',
    search: 'Suchen',
    showAll: 'Alle zeigen',
  },

  status: {
    title: 'Betriebsstatus',
    description: (brand) => `Was bei ${brand} funktioniert, und Störungen der letzten 24 Stunden.`,
    checkedAt: (time) => html`Geprüft: ${time}.`,
    everythingWorks: 'Alles funktioniert',
    someDown: 'Einige Teile funktionieren nicht',
    someLimited: 'Einige Teile funktionieren nur teilweise',
    services: 'Dienste',
    models: 'Modelle',
    website: 'Website und Shop',
    parts: {
      app: 'App und API',
      changes: 'Änderungen speichern',
      email: 'E-Mails',
      payments: 'Zahlungen',
    },
    states: {
      works: 'Funktioniert',
      limited: 'Teilweise',
      paused: 'Pausiert',
      down: 'Funktioniert nicht',
      unknown: 'Unbekannt',
    },
    incidents: 'Störungen',
    none: 'Keine in den letzten 24 Stunden.',
    stoppable: {
      api: 'App und API',
      storefront: 'Website und Shop',
      worker: 'Hintergrundaufgaben',
    },
    stopped: (what) => html`<strong>${what}</strong>: nicht verfügbar.`,
    paused: (what) => html`<strong>${what}</strong> ist pausiert.`,
    failed: (what, percent) =>
      html`<strong>${what}</strong>: ${percent} % der Aufrufe sind fehlgeschlagen.`,
    since: (from) => html`Seit ${from}`,
    span: (from, until) => html`${from} bis ${until}`,
  },

  docs: {
    title: 'Dokumentation',
    note: 'Die Dokumentation ist auf Englisch.',
    groups: { everyone: 'Anleitungen', operator: 'Betrieb' },
    reference: 'API-Referenz',
    referenceTask: 'Jede Operation nachschlagen, mit Beispielen',
    searchTitle: 'Dokumentation durchsuchen',
    search: 'Suchen',
    noWords: 'Geben Sie ein oder mehrere Wörter ein.',
    noResults: 'Kein Abschnitt enthält alle diese Wörter.',
    results: (count) => (count === 1 ? '1 Treffer' : `${count} Treffer`),
    allPages: 'Alle Seiten',
    nextPages: 'Weitere Seiten',
    previous: 'Zurück',
    next: 'Weiter',
  },
}

export type SiteMessages = typeof en
export const SITE_MESSAGES: Messages<SiteMessages> = { en, de }
