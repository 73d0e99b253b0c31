import type { BillingMessages } from './billing.en.ts'

const INTERVALS: Record<string, string> = {
  day: 'pro Tag',
  week: 'pro Woche',
  month: 'pro Monat',
  year: 'pro Jahr',
}

export const de: BillingMessages = {
  price: 'Preis vor Rabatten und Steuern',
  perInterval: (amount, interval) => `${amount} ${INTERVALS[interval]}`,
  viewPlan: 'Tarif ansehen',
  viewPlans: 'Tarife ansehen',
  viewPlanAndInvoices: 'Tarif und Rechnungen ansehen',
  viewInvoices: 'Rechnungen ansehen',
  updateCard: 'Bezahlen oder Karte aktualisieren',
  plan: 'Tarif',
  paid: 'Bezahlt',
  invoice: 'Rechnung',
  activeUntil: 'Aktiv bis',

  trialEnds: ({ service, plan, on }) => ({
    subject: `Ihr Probezeitraum für ${plan} endet am ${on}`,
    before: `Danach beginnt Ihr Abonnement bei ${service}, und wir belasten die hinterlegte Karte. Wenn Sie das nicht möchten, kündigen Sie vor diesem Tag.`,
    ends: 'Ende des Probezeitraums',
  }),

  trialRefused: ({ service }) => ({
    subject: 'Ihr Probezeitraum konnte nicht beginnen',
    before: [
      `${service} bietet einen Probezeitraum je Person an, und diese E-Mail-Adresse oder dieses Zahlungsmittel wurde bereits dafür verwendet. Wir haben das Abonnement beendet und nichts berechnet.`,
      'Sie können jederzeit ohne Probezeitraum abonnieren.',
    ],
    after: ['Wenn Sie das für einen Irrtum halten, antworten Sie auf diese E-Mail.'],
  }),

  renewal: ({ service, plan, on }) => ({
    subject: `Ihr Tarif ${plan} verlängert sich am ${on}`,
    before: `Ihr Jahrestarif bei ${service} verlängert sich am ${on} um ein weiteres Jahr. Sie müssen dafür nichts tun.`,
    fact: 'Verlängert sich am',
    button: 'Tarif ansehen oder kündigen',
  }),

  renewalAsOther: ({ service, plan, next, on }) => ({
    subject: `Ihr Tarif wird am ${on} zu ${next}`,
    before: `Ihr bezahltes Jahr ${plan} endet am ${on}. Wie gewünscht läuft Ihr Jahrestarif bei ${service} danach ein weiteres Jahr als ${next}. Sie müssen dafür nichts tun.`,
    fact: `Beginn von ${next}`,
    button: 'Tarif ansehen oder kündigen',
  }),

  planStarted: ({ service, plan }) => ({
    subject: `Ihr Tarif ${plan} hat begonnen`,
    before: `Vielen Dank. Ihre Zahlung ist eingegangen, und Ihr Tarif bei ${service} ist aktiv.`,
  }),

  paymentFailed: ({ service, plan, closesOn }) => ({
    first: {
      subject: `Die Zahlung für Ihren Tarif ${plan} ist fehlgeschlagen`,
      before: `Ihr Tarif bei ${service} bleibt bis zum ${closesOn} aktiv. Um ihn zu behalten, bezahlen Sie vorher oder aktualisieren Sie Ihre Karte.`,
    },
    reminder: {
      subject: `Erinnerung: Die Zahlung für Ihren Tarif ${plan} ist überfällig`,
      before: `Ihr Tarif bei ${service} wird am ${closesOn} gesperrt, wenn Sie nicht vorher bezahlen.`,
    },
    last: {
      subject: `Letzte Erinnerung: Ihr Tarif ${plan} wird am ${closesOn} gesperrt`,
      before: `Die Zahlung für Ihren Tarif bei ${service} ist nicht eingegangen. Der Tarif wird am ${closesOn} gesperrt. Ihre Daten bleiben erhalten.`,
    },
    amountDue: 'Offener Betrag',
    card: 'Karte oder Konto',
    endingIn: (last4) => `endet auf ${last4}`,
    reason: 'Grund (Angabe der Bank)',
  }),

  planChanged: ({ service, plan }) => ({
    subject: `Ihr Tarif ist jetzt ${plan}`,
    before: `Ihr Tarif bei ${service} hat sich geändert.`,
  }),

  pausing: ({ service, plan, on }) => ({
    subject: `Ihr Tarif ${plan} pausiert ab dem ${on}`,
    before: `Ihr Tarif bei ${service} bleibt bis zum ${on} aktiv. Danach pausiert er, und es wird nichts berechnet, bis Sie ihn fortsetzen.`,
    button: 'Tarif fortsetzen',
  }),

  reopened: ({ service, plan }) => ({
    subject: `Ihr Tarif ${plan} läuft wieder`,
    before: `Ihr Tarif bei ${service} ist wieder aktiv und verlängert sich wie zuvor.`,
  }),

  refunded: ({ service, amount }) => ({
    subject: `Wir haben ${amount} erstattet`,
    before: `Wir haben ${amount} Ihrer Zahlung an ${service} erstattet. Es kann bis zu zehn Tage dauern, bis die Erstattung auf Ihrem Konto erscheint.`,
    ending: 'Das damit bezahlte Abonnement endet, und es wird nichts weiter berechnet.',
    refunded: 'Erstattet',
    payment: 'Zahlung',
  }),

  disputed: ({ service, amount }) => ({
    subject: 'Ihr Tarif ist gesperrt, solange Ihre Bank eine Zahlung prüft',
    before: `Ihre Bank hat uns mitgeteilt, dass einer Zahlung von ${amount} an ${service} widersprochen wurde. Ihr Tarif ist gesperrt, bis die Bank entscheidet, und bis dahin wird nichts berechnet.`,
    after: [
      'Wenn Sie der Zahlung nicht widersprochen haben, bitten Sie Ihre Bank, den Widerspruch zurückzunehmen, und antworten Sie auf diese E-Mail.',
    ],
  }),

  paymentConfirm: ({ service, plan, closesOn }) => ({
    subject: `Ihre Bank bittet Sie, die Zahlung für Ihren Tarif ${plan} zu bestätigen`,
    before: `Ihre Bank muss prüfen, ob Sie der Zahlung für Ihren Tarif bei ${service} zustimmen. Der Tarif bleibt bis zum ${closesOn} aktiv; bestätigen Sie die Zahlung vorher.`,
    button: 'Zahlung bestätigen',
  }),

  changeConfirm: ({ service, plan }) => ({
    subject: `Bestätigen Sie Ihren Wechsel zu ${plan}`,
    before: `Wir haben den Wechsel Ihres Tarifs bei ${service} zu ${plan} vorbereitet. Ihre Bank verlangt, dass Sie die Zahlung bestätigen; bis dahin wird nichts geändert und nichts berechnet.`,
    button: 'Bestätigen und bezahlen',
    after: [
      'Der Link gilt 24 Stunden. Mit der Zahlung beginnt ein neuer Zeitraum; der ungenutzte Teil Ihres bisherigen Tarifs wird auf Ihre nächsten Rechnungen angerechnet.',
      'Wenn Sie diesen Wechsel nicht gewünscht haben, ignorieren Sie diese E-Mail.',
    ],
  }),

  planSuspended: ({ service, plan }) => ({
    subject: `Ihr Tarif ${plan} ist gesperrt, bis er bezahlt ist`,
    before: `Die Zahlung für Ihren Tarif bei ${service} ist nicht eingegangen, deshalb ist der Tarif gesperrt. Ihre Daten bleiben erhalten, und der Tarif läuft weiter, sobald die Zahlung eingeht.`,
  }),

  paymentReceived: ({ plan }) => ({
    subject: `Ihr Tarif ${plan} ist bezahlt`,
    before: 'Die fehlende Zahlung ist eingegangen, und alles in Ihrem Tarif ist wieder verfügbar.',
  }),

  cardExpires: ({ plan, last4, renewsOn }) => ({
    subject: 'Ihre Karte läuft vor der nächsten Zahlung ab',
    before: `Die Karte${last4 === null ? '' : ` mit den Endziffern ${last4}`} läuft ab, bevor sich Ihr Tarif ${plan} am ${renewsOn} verlängert. Aktualisieren Sie Ihre Karte, um eine Unterbrechung zu vermeiden.`,
    button: 'Karte aktualisieren',
    after: [
      'Wenn Ihre Bank eine neue Karte mit derselben Nummer ausgestellt hat, müssen Sie vielleicht nichts tun.',
    ],
  }),

  cancelling: ({ service, plan, on }) => ({
    subject: `Ihr Tarif ${plan} endet am ${on}`,
    before: `Sie haben Ihren Tarif bei ${service} gekündigt. Er bleibt bis zum ${on} aktiv, und es wird nichts weiter berechnet.`,
    button: 'Tarif behalten',
  }),

  ended: ({ service, plan }) => ({
    subject: `Ihr Tarif ${plan} ist beendet`,
    before: `Ihr Abonnement bei ${service} ist beendet, und es wird nichts weiter berechnet. Ihr Konto und Ihre Daten bleiben erhalten.`,
    button: 'Erneut abonnieren',
  }),

  planReplaced: ({ service }) => ({
    subject: 'Ihr neuer Tarif hat den früheren ersetzt',
    before: `Sie haben ${service} erneut abonniert, während ein früheres Abonnement noch lief. Das frühere ist beendet. Sein ungenutzter Teil wird mit Ihren nächsten Rechnungen verrechnet.`,
  }),

  paidTwice: ({ service, refunded }) => ({
    subject: `Sie haben doppelt bezahlt, deshalb haben wir ${refunded} erstattet`,
    before: `Sie haben denselben Tarif bei ${service} innerhalb einer Stunde zweimal bezahlt. Wir haben die frühere Zahlung erstattet, und nur ein Abonnement läuft weiter. Es kann bis zu zehn Tage dauern, bis die Erstattung auf Ihrem Konto erscheint.`,
  }),

  priceMoves: ({ service, plan, on }) => ({
    subject: `Der Preis Ihres Tarifs ${plan} ändert sich am ${on}`,
    before: `Der Zeitraum, den Sie bezahlt haben, ist davon nicht betroffen. Ab dem ${on} kostet Ihr Tarif bei ${service} den neuen Preis. Wenn Sie nicht fortfahren möchten, kündigen Sie vor diesem Tag.`,
    untilThen: 'Bis dahin',
  }),

  winBack: ({ service, plan, unsubscribePage }) => ({
    subject: `Kommen Sie zurück zu ${plan}`,
    before: `Ihr Tarif bei ${service} endete vor einiger Zeit. Ihre Daten sind noch gespeichert und mit jedem Tarif wieder verfügbar.`,
    after: [
      `Sie erhalten diese E-Mail, weil Sie Angebote bestellt haben. Abbestellen: ${unsubscribePage}`,
    ],
  }),
}
