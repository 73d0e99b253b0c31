import type { ShopMessages } from './shop.en.ts'

export const de: ShopMessages = {
  layout: {
    skip: 'Zum Inhalt springen',
    main: 'Hauptmenü',
    pricing: 'Preise',
    models: 'Modelle',
    docs: 'Dokumentation',
    contact: 'Kontakt',
    purchases: 'Ihre Käufe',
    signOut: 'Abmelden',
    signIn: 'Anmelden',
    lostKey: 'Schlüssel verloren?',
    withdraw: 'Kauf widerrufen',
    status: 'Betriebsstatus',
    account: 'Ihr Konto',
    language: 'Sprache',
  },

  notFound: {
    title: 'Nicht gefunden',
    heading: 'Seite nicht gefunden',
    text: 'Unter dieser Adresse gibt es keine Seite. Prüfen Sie den Link.',
    back: 'Zur Startseite',
  },

  home: {
    builtIn: {
      title: 'Bringen Sie Ihr KI-Produkt diesen Monat heraus, nicht nächstes Jahr.',
      text: 'Konten, Zahlungen, Suche in Dokumenten und Betrieb, getestet und mit vollständigem Quellcode. Einmal bezahlen, für immer behalten und zwölf Monate lang Updates erhalten.',
    },
    plansOnly: {
      title: 'Wählen Sie einen Tarif',
      text: 'Ein Konto ist kostenlos. Einen Tarif können Sie jederzeit kündigen; er läuft dann bis zum Ende des Zeitraums.',
    },
    nothing: {
      title: 'Demnächst',
      text: 'Zurzeit steht nichts zum Verkauf.',
    },
    general: {
      title: 'Einmal kaufen, für immer behalten',
      text: 'Eine Zahlung, kein Abonnement. Laden Sie sofort herunter, und aktualisieren Sie, solange Ihre Updates laufen.',
    },
    eyebrow: (brand) => `${brand} Starterpakete`,
    points: 'In jedem Kauf enthalten',
    delivery: 'Sofort geliefert',
    deliveryText:
      'Nach der Zahlung laden Sie ein verschlüsseltes ZIP herunter. Den Lizenzschlüssel senden wir Ihnen per E-Mail.',
    recovery: 'Leicht wiederzubekommen',
    recoveryText:
      'Fünf Downloads jeder Version, die Sie nach einer Unterbrechung fortsetzen können. Schlüssel verloren? Wir senden ihn noch einmal.',
    withoutEnd: 'Unbegrenzte Updates',
    withoutEndText: 'Der Preis enthält alle künftigen Versionen.',
    updates: (months) => (months === 1 ? 'Einen Monat Updates' : `${months} Monate Updates`),
    updatesText: (months) =>
      `Der Preis enthält alle Versionen ${months === 1 ? 'des nächsten Monats' : `der nächsten ${months} Monate`}. Sie können sie auch später noch herunterladen.`,
  },

  pricing: {
    title: 'Preise',
    cancelled: 'Kauf abgebrochen.',
    notCharged: 'Es wurde nichts berechnet.',
    codeBefore: 'Der Code',
    codeAfter: 'wird beim Bezahlen angewendet.',
    planOrProduct: 'Abonnieren Sie einen Tarif, oder bezahlen Sie ein Produkt einmal.',
    cancelAnytime: 'Jederzeit kündbar; Ihr Tarif läuft dann bis zum Ende des Zeitraums.',
    plans: 'Tarife',
    once: 'Einmal bezahlen, kein Abonnement',
    nothing: 'Zurzeit werden keine Produkte verkauft.',
    compare: 'Vergleich',
    comparison: 'Vergleich der Produkte',
    price: 'Preis',
    included: 'Enthalten',
    notIncluded: 'Nicht enthalten',
    ladder: 'Jede Stufe enthält alles aus der Stufe davor. ',
    currencies: (currencies) =>
      `Preise in ${currencies}. Einen Aktionscode können Sie beim Bezahlen eingeben.`,
    recommended: 'Empfohlen',
    oneTime: 'einmalige Zahlung',
    toDownload: 'Zu Ihrem Download',
    buy: (name) => `${name} kaufen`,
    free: 'Kostenlos',
    get: (name) => `${name} holen`,
    freeTerms: { email: 'mit Ihrer E-Mail-Adresse', account: 'mit einem bestätigten Konto' },
    comingSoon: 'Demnächst verfügbar',
    inTheZip: 'Im ZIP:',
    allFiles: (files) => `alle ${files}`,
    allFilesOf: (files, name) => `Alle ${files} von ${name}`,
    description: (names, isOnce) =>
      `Preise von ${names}${isOnce ? ': einmal bezahlen, kein Abonnement' : ''}.`,
  },

  plans: {
    get: (name) => `${name} wählen`,
    createAccount: 'Kostenloses Konto anlegen',
    trial: (days) => ` · ${days} Tage kostenlos testen`,
    forever: 'für immer',
    priceLater: 'Sie sehen den Preis vor dem Bezahlen',
    orPerYear: (amount) => ` oder ${amount} pro Jahr`,
    perYear: 'pro Jahr',
    perMonth: 'pro Monat',
  },

  product: {
    breadcrumb: 'Sie sind hier',
    products: 'Produkte',
    features: 'Das bekommen Sie',
    inside: 'In diesem Paket',
    alone: (price) => `Einzeln gekauft: ${price}`,
    updatesOfEach: 'Updates so lange, wie jedes Produkt sie hat',
    files: 'Inhalt des ZIP',
    changelog: 'Änderungen',
    questions: 'Fragen',
    terms: 'Lizenzbedingungen',
    release: (version) => `Version ${version} vom`,
    taxNotes: {
      off: '',
      exclusive: ', zuzüglich der Steuer Ihres Landes',
      inclusive: ', inklusive Steuer',
    },
    notYet: 'Demnächst verfügbar. Dieses Produkt kann noch nicht gekauft werden.',
    upgrade: (from, price) => `Upgrade von ${from} für ${price}`,
    upgradeFree: (from) => `Kostenloses Upgrade von ${from}`,
    version: (version) => `Version ${version} vom`,
    allUpdates: 'Alle künftigen Updates',
    updates: (months) => (months === 1 ? '1 Monat Updates' : `${months} Monate Updates`),
    thenAgain: (price, months) =>
      `, danach ${price} für ${months === 1 ? 'einen weiteren Monat' : `weitere ${months} Monate`}`,
    atOnce: 'Sofort herunterladen; der Lizenzschlüssel kommt per E-Mail',
    atOnceBundle: 'Sofort herunterladen; die Lizenzschlüssel kommen per E-Mail',
    withdraw: '14 Tage Widerrufsrecht',
    optional: '(freiwillig)',
    fallback: (name) => `${name}: einmal bezahlen, sofort herunterladen.`,
  },

  changelog: {
    of: (name) => `Änderungen von ${name}`,
    follow: 'Neue Versionen als Feed:',
    none: 'Es gibt noch keine Version.',
    earlier: 'Frühere Änderungen',
    older: 'Ältere Versionen',
    all: 'Alle Versionen',
    description: (name) => `Alle Versionen von ${name} mit ihren Änderungen.`,
  },

  files: {
    count: (count) => (count === 1 ? '1 Datei' : `${count.toLocaleString('de')} Dateien`),
    more: (files) => `und ${files} mehr`,
  },
}
