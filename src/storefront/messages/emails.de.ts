import type { ShopEmailMessages } from './emails.en.ts'

export const de: ShopEmailMessages = {
  product: 'Produkt',
  paid: 'Bezahlt',
  order: 'Bestellung',
  licenseKey: 'Lizenzschlüssel',
  toDownloads: 'Zu Ihren Downloads',

  howToOpen:
    'Das ZIP ist mit AES-256 verschlüsselt. Das Passwort ist Ihr Lizenzschlüssel mit den Bindestrichen. Windows: Öffnen Sie es mit 7-Zip oder WinZip. ' +
    'macOS: Öffnen Sie es mit Keka, oder rufen Sie im Terminal „bsdtar -xf DATEI“ auf. Linux: Rufen Sie „7z x DATEI“ oder „bsdtar -xf DATEI“ auf. „unzip“ und das Archivierungsprogramm von macOS können es nicht öffnen.',

  purchase: ({ name }) => ({
    subject: `Ihre Lizenz für ${name}`,
    first: `Vielen Dank für den Kauf von ${name}. Ihr Lizenzschlüssel öffnet auch das heruntergeladene ZIP. Bewahren Sie diese E-Mail auf.`,
    free: `Hier ist Ihre Lizenz für ${name}. Ihr Lizenzschlüssel öffnet auch das heruntergeladene ZIP. Bewahren Sie diese E-Mail auf.`,
    bundle: `Vielen Dank für den Kauf von ${name}. Jedes Produkt darin hat seinen eigenen Lizenzschlüssel, der auch sein ZIP öffnet. Bewahren Sie diese E-Mail auf.`,
    later: `Vielen Dank für Ihre Bestellung von ${name}. Ihr Lizenzschlüssel bleibt gleich und öffnet auch das heruntergeladene ZIP.`,
    date: 'Datum',
    Invoice: 'Rechnung',
    Receipt: 'Quittung',
    downloads: 'Anzahl Downloads',
    updatesUntil: 'Updates bis',
    noEnd: 'unbegrenzt',
    withoutAccount:
      'Dieser Kauf gehört zu keinem Konto. Antworten Sie auf diese E-Mail, um Ihren Download zu erhalten.',
  }),

  freeProduct: ({ name }) => ({
    subject: `Bestätigen Sie Ihre E-Mail-Adresse, um ${name} zu erhalten`,
    before: `Sie haben ${name} angefordert, kostenlos. Bestätigen Sie Ihre E-Mail-Adresse, um den Lizenzschlüssel und den Download zu erhalten.`,
    button: 'Bestätigen und erhalten',
    after:
      'Der Link funktioniert einmal, 7 Tage lang. Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Dann passiert nichts.',
  }),

  claims: {
    account: {
      button: 'Kauf öffnen',
      text: 'Der Link funktioniert einmal, 7 Tage lang. Er bestätigt Ihre E-Mail-Adresse und meldet Sie bei Ihrem neuen Konto an. Später melden Sie sich mit einem Code an, den wir Ihnen per E-Mail senden.',
    },
    purchase: {
      button: 'Zum Konto hinzufügen',
      text: 'Der Link funktioniert einmal, 7 Tage lang. Zu Ihrer E-Mail-Adresse gibt es schon ein Konto. Melden Sie sich dort an, um den Kauf hinzuzufügen. Wenn Sie nichts gekauft haben, ignorieren Sie diese E-Mail: Ihr Konto bleibt unverändert.',
    },
  },

  keyRecovery: ({ isOne }) => ({
    subject: isOne ? 'Ihr Lizenzschlüssel' : 'Ihre Lizenzschlüssel',
    before:
      'Sie haben Ihre Lizenzschlüssel noch einmal angefordert. Wenn nicht, ignorieren Sie diese E-Mail.',
    refunded: '(erstattet)',
  }),

  revoked: ({ name }) => ({
    subject: `Ihre Lizenz für ${name} wurde widerrufen`,
    dispute: `Ihre Bank hat Ihnen die Zahlung für ${name} zurückgegeben. Ihr Lizenzschlüssel und Ihre Downloads funktionieren nicht mehr.`,
    seller: `Wir haben Ihre Lizenz für ${name} widerrufen. Ihr Lizenzschlüssel und Ihre Downloads funktionieren nicht mehr.`,
    after: ['Wenn Sie das für einen Irrtum halten, antworten Sie auf diese E-Mail.'],
  }),

  revokedBundle: ({ name }) => ({
    subject: `Ihre Lizenzen für ${name} wurden widerrufen`,
    dispute: `Ihre Bank hat Ihnen die Zahlung für ${name} zurückgegeben. Die Lizenzschlüssel und Downloads der enthaltenen Produkte funktionieren nicht mehr.`,
    seller: `Wir haben Ihre Lizenzen für ${name} widerrufen. Die Lizenzschlüssel und Downloads der enthaltenen Produkte funktionieren nicht mehr.`,
    after: ['Wenn Sie das für einen Irrtum halten, antworten Sie auf diese E-Mail.'],
  }),

  refundEnds: {
    license: 'Ihr Lizenzschlüssel und Ihre Downloads funktionieren nicht mehr.',
    bundle: 'Die Lizenzschlüssel und Downloads der enthaltenen Produkte funktionieren nicht mehr.',
  },

  updateEnd: ({ name, day, isAhead }) => ({
    subject: isAhead ? `Updates für ${name} enden am ${day}` : `Updates für ${name} sind beendet`,
    before: [
      isAhead
        ? `Ihre Updates für ${name} enden am ${day}.`
        : `Ihre Updates für ${name} endeten am ${day}.`,
      'Ihr Lizenzschlüssel bleibt gültig, und Sie können alle Versionen weiter verwenden, die vor diesem Tag erschienen sind.',
    ],
    updatesUntil: 'Updates bis',
    renewal: 'Verlängerung',
    renew: 'Updates verlängern',
    toPurchases: 'Zu Ihren Käufen',
  }),

  release: ({ shop, optoutUrl }) => ({
    subjectOfOne: (release) => `Neue Version: ${shop} ${release}`,
    subjectOfSeveral: (count) => `${count} neue Versionen von ${shop}`,
    isOut: (release) => `${shop} ${release} ist erschienen.`,
    after: [
      'Ihr Lizenzschlüssel bleibt gleich, und jede Version hat eigene Downloads.',
      `Sie erhalten diese E-Mail höchstens einmal pro Woche, weil Sie ${shop} gekauft haben. Keine E-Mails über neue Versionen mehr: ${optoutUrl}`,
    ],
  }),

  withdrawal: ({ shop }) => ({
    subject: 'Wir haben Ihren Widerruf erhalten',
    before: `Wir haben den Widerruf Ihres Kaufs bei ${shop} erhalten.`,
    open: 'Ihr Lizenzschlüssel und Ihre Downloads funktionieren nicht mehr. Wir erstatten Ihre Zahlung auf die Karte oder das Konto, mit dem Sie bezahlt haben.',
    openBundle:
      'Die Lizenzschlüssel und Downloads aller enthaltenen Produkte funktionieren nicht mehr. Wir erstatten Ihre Zahlung auf die Karte oder das Konto, mit dem Sie bezahlt haben.',
    waived:
      'Sie haben beim Kauf die sofortige Lieferung verlangt und bestätigt, dass Ihr Widerrufsrecht mit ihrem Beginn erlischt. Sie hat begonnen. Wir prüfen Ihre Anfrage und antworten Ihnen.',
    late: 'Die Widerrufsfrist von 14 Tagen ist vorbei. Wir prüfen Ihre Anfrage und antworten Ihnen.',
    ended: 'Dieser Kauf ist bereits beendet. Wir prüfen Ihre Anfrage und antworten Ihnen.',
    free: 'Für diesen Kauf wurde nichts bezahlt, es gibt also nichts zu erstatten. Wir prüfen Ihre Anfrage und antworten Ihnen.',
    bought: 'Gekauft',
    withdrawn: 'Widerrufen',
    consent: 'Ihre Zustimmung beim Kauf',
    consentText: (text, version, at) => `${text} (Fassung ${version}, ${at})`,
  }),

  subjects: {
    sales: 'Frage zum Kauf',
    support: 'Technische Hilfe',
    enterprise: 'Angebote für Unternehmen',
    partnership: 'Partnerschaft',
    other: 'Allgemeine Anfrage',
  },

  contact: ({ shop, topic }) => ({
    subject: 'Wir haben Ihre Nachricht erhalten',
    before: `Vielen Dank für Ihre Nachricht an ${shop} (${topic}). Wir antworten in der Regel innerhalb eines Werktags.`,
    after: [
      'Wenn Sie uns nicht geschrieben haben, hat jemand versehentlich Ihre Adresse eingegeben. Sie erhalten dann keine weitere E-Mail.',
    ],
  }),

  reply: ({ shop, topic, day }) => ({
    subject: `Re: ${topic} bei ${shop}`,
    youWrote: `Sie schrieben am ${day}:`,
  }),
}
