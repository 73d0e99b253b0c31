import type { BuyerMessages } from './buyer.en.ts'

export const de: BuyerMessages = {
  email: 'E-Mail-Adresse',
  contactUs: 'Schreiben Sie uns',

  login: {
    title: 'Anmelden',
    buying: 'Melden Sie sich an, um zu bezahlen.',
    lead: 'Verwenden Sie E-Mail-Adresse und Passwort Ihres Kontos.',
    password: 'Passwort',
    twoFactor: 'Zwei-Faktor-Code',
    twoFactorHelp: 'Aus Ihrer Authenticator-App oder einer Ihrer Wiederherstellungscodes.',
    byCode: 'Mit einem Code per E-Mail anmelden',
    passkey: 'einem Passkey',
    signInWith: (ways) => `Mit ${ways} anmelden`,
    asGuest: 'Ohne Konto kaufen',
    noAccount: 'Noch kein Konto?',
    createAccount: 'Konto anlegen',
    forgot: 'Passwort vergessen?',
    missing: 'Geben Sie E-Mail-Adresse und Passwort ein.',
    proofWithoutScript:
      'Zu viele Anmeldungen bei diesem Konto sind fehlgeschlagen. Schalten Sie JavaScript ein, oder verwenden Sie ein Gerät, das schon angemeldet war.',
    otherBrowser:
      'Die Anmeldung wurde in einem anderen Browser begonnen oder ist abgelaufen. Beginnen Sie noch einmal.',
  },

  code: {
    heading: 'Mit einem Code anmelden',
    lead: 'Wir senden einen Code an die Adresse Ihres Kontos.',
    button: 'Code senden',
    otherWay: 'Anders anmelden',
    check: 'Sehen Sie in Ihr Postfach',
    sent: (email) =>
      `Wenn zu ${email} ein Konto gehört, haben wir eine E-Mail mit einem Code gesendet. Er funktioniert zehn Minuten lang, in diesem Browser.`,
    label: 'Code aus der E-Mail',
    noEmail: 'Keine E-Mail? Sehen Sie im Spam-Ordner nach, oder',
    again: 'fordern Sie einen neuen Code an',
  },

  checkout: {
    title: 'Bezahlen',
    heading: (name) => `${name} kaufen`,
    lead: (price) =>
      `${price}, einmalig. Sie brauchen kein Konto: Wir senden Ihnen den Lizenzschlüssel und einen Link zu Ihren Downloads per E-Mail.`,
    emailHelp: 'Prüfen Sie die Adresse: Dorthin geht Ihr Lizenzschlüssel.',
    code: 'Aktionscode (freiwillig)',
    button: 'Weiter zur Zahlung',
    hasAccount: 'Haben Sie ein Konto?',
    signIn: 'Melden Sie sich an',
    toBuy: ', um damit zu kaufen.',
    invalidEmail: 'Geben Sie eine gültige E-Mail-Adresse ein.',
  },

  free: {
    byEmail:
      'Kostenlos. Wir senden Ihnen einen Link, der Ihren Lizenzschlüssel und Ihren Download öffnet.',
    forAccount: (email) => `Kostenlos, für Ihr Konto ${email}.`,
    send: 'Link per E-Mail senden',
    toGet: ', um es sofort zu erhalten.',
    sent: 'Sehen Sie in Ihr Postfach',
    sentText: 'Wir haben Ihnen einen Link gesendet. Er funktioniert einmal, 7 Tage lang.',
  },

  order: {
    title: 'Ihre Bestellung',
    paid: [
      'Vielen Dank. Sehen Sie in Ihr Postfach',
      'Ihre Zahlung ist eingegangen. Wir haben Ihnen den Lizenzschlüssel und einen Link zu Ihrem Kauf per E-Mail gesendet.',
    ],
    settling: [
      'Ihre Zahlung wird bearbeitet',
      'Das kann einige Tage dauern. Wir senden Ihnen den Lizenzschlüssel, sobald die Zahlung eingeht.',
    ],
    pending: [
      'Ihre Zahlung wird bestätigt',
      'Diese Seite aktualisiert sich von selbst, und wir schreiben Ihnen, sobald die Zahlung bestätigt ist.',
    ],
    unknown: [
      'Keine offene Zahlung gefunden',
      'Wenn Ihre Bank die Zahlung abgelehnt hat, wurde nichts berechnet. Wenn Sie bezahlt und keine E-Mail bekommen haben, schreiben Sie uns.',
    ],
    noEmail: 'Nach einigen Minuten keine E-Mail? Sehen Sie im Spam-Ordner nach, oder',
    again: 'lassen Sie sie noch einmal senden',
  },

  claim: {
    title: 'Ihr Kauf',
    open: 'Ihren Kauf öffnen',
    add: 'Kauf zum Konto hinzufügen',
    confirmsBefore: 'Damit bestätigen Sie',
    confirmsAfter: 'und werden angemeldet.',
    madeFor: 'Der Kauf gehört zu',
    signInFirst: 'Melden Sie sich zuerst bei diesem Konto an.',
    signIn: 'Anmelden',
    openButton: 'Kauf öffnen',
    addButton: 'Zum Konto hinzufügen',
    notYou:
      'Sie haben nichts gekauft? Schließen Sie diese Seite. Ohne diesen Knopf geschieht nichts.',
    expired: 'Dieser Link funktioniert nicht mehr',
    expiredText: 'Er funktioniert einmal, 7 Tage lang. Wir können Ihnen einen neuen senden.',
    newLink: 'Neuen Link senden',
    other: 'Dieser Kauf gehört zu einem anderen Konto',
    otherText: 'Melden Sie sich ab, und folgen Sie dann noch einmal dem Link aus der E-Mail.',
    toPurchases: 'Zu Ihren Käufen',
  },

  contact: {
    title: 'Kontakt',
    heading: 'Schreiben Sie uns',
    lead: 'Wir lesen jede Nachricht und antworten in der Regel innerhalb eines Werktags.',
    name: 'Ihr Name',
    subject: 'Betreff',
    message: 'Nachricht',
    button: 'Nachricht senden',
    sent: 'Nachricht gesendet',
    sentText: 'Vielen Dank. Wir haben Ihnen eine Bestätigung per E-Mail gesendet.',
    back: 'Zur Startseite',
    incomplete: 'Füllen Sie alle Felder aus, mit einer gültigen E-Mail-Adresse.',
    description: (brand, lead) => `Stellen Sie ${brand} eine Frage. ${lead}`,
  },

  recover: {
    title: 'Schlüssel verloren?',
    lead: 'Wir senden Ihnen die Lizenzschlüssel Ihrer Käufe per E-Mail.',
    button: 'Schlüssel senden',
    sent: 'Wenn zu dieser Adresse Käufe gehören, haben wir die Lizenzschlüssel gesendet.',
    signedInBefore: 'Wenn Sie angemeldet sind, finden Sie sie auch unter',
    signedInLink: 'Ihre Käufe',
  },

  withdrawal: {
    title: 'Kauf widerrufen',
    lead: 'Verbraucher können innerhalb von 14 Tagen ohne Angabe von Gründen und ohne Konto widerrufen. Die Nummer der Bestellung steht in der E-Mail zu Ihrem Kauf.',
    order: 'Bestellung',
    email: 'E-Mail-Adresse des Kaufs',
    reason: 'Grund (freiwillig)',
    button: 'Weiter',
    confirm: 'Widerruf bestätigen',
    statement: (order) => `Ich widerrufe meinen Kauf mit der Bestellung ${order}.`,
    receipt: (email) => `Wir senden sofort eine Bestätigung an ${email}.`,
    confirmButton: 'Widerruf bestätigen',
    confirmed: 'Widerruf bestätigt',
    confirmedText:
      'Wenn Bestellung und E-Mail-Adresse zusammengehören, ist eine Bestätigung an diese Adresse unterwegs. Wenn keine kommt,',
    contact: 'schreiben Sie uns',
    incomplete: 'Geben Sie die Bestellung und eine gültige E-Mail-Adresse ein.',
  },

  releaseEmails: {
    title: 'E-Mails über neue Versionen',
    lead: 'Sie erhalten höchstens eine E-Mail pro Woche. E-Mails zu Ihren Bestellungen und Ihrer Lizenz kommen weiterhin.',
    button: 'E-Mails über Versionen abbestellen',
    out: 'Sie erhalten keine E-Mails über neue Versionen mehr.',
    again: 'Wieder bestellen',
    in: 'Sie erhalten wieder E-Mails über neue Versionen, höchstens eine pro Woche.',
  },

  errors: {
    signInText: 'Melden Sie sich mit dem Konto an, mit dem Sie gekauft haben.',
    signInRequired: 'Anmeldung erforderlich',
    tooMany: 'Zu viele Anfragen',
    noDownload: 'Download nicht verfügbar',
    failed: 'Das hat nicht funktioniert',
    notPossible: 'Anfrage nicht möglich',
    seePricing: 'Preise ansehen',
  },
}
