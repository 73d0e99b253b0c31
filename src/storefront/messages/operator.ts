import type { Locale, Messages } from '#platform/locale.ts'

/** Texts of the shop's emails to the operator. */
const en = {
  product: 'Product',
  paid: 'Paid',
  buyer: 'Buyer',
  deletedAccount: 'a deleted account',
  order: 'Order',
  payment: 'Payment',
  openOrder: 'Open the order',
  email: 'Email',
  reason: 'Reason',
  noReason: 'none given',

  sale: {
    subject: (name: string, amount: string) => `Sold: ${name} for ${amount}`,
    first: 'You sold a product.',
    later: 'You sold an upgrade or a renewal.',
  },

  keptPayment: {
    subject: (name: string, amount: string) => `Ended, but paid: ${name} for ${amount}`,
    before:
      'This order has ended because an earlier payment for its license was returned, or because the license was revoked. Its own payment was not returned. Consider refunding it.',
  },

  paidTwice: {
    subject: (name: string) => `Paid twice: ${name}`,
    before:
      'A buyer paid for a product that they already own. Consider refunding one of the payments.',
    thisPayment: 'This payment',
    earlier: 'Earlier',
  },

  withdrawal: {
    subject: (name: string) => `Withdrawal: ${name}`,
    before: 'A buyer withdrew from a purchase.',
    open: 'The payment is refunded.',
    waived:
      'Nothing is refunded: the buyer agreed that the right ends when delivery begins. Please reply.',
    late: 'Nothing is refunded: the withdrawal period is over. Please reply.',
    ended: 'Nothing is refunded: the purchase had already ended. Please reply.',
    free: 'Nothing is refunded: the product was free. Please reply.',
  },

  unknownOrder: {
    subject: 'Withdrawal from an unknown order',
    before:
      'A visitor withdrew from an order that is unknown or belongs to another address. They may have mistyped it.',
    confirmed: 'Confirmed',
  },

  failedRefund: {
    subject: (name: string) => `Refund failed: ${name}`,
    before:
      'A buyer withdrew from this purchase, but the refund of their payment failed. Refund it in the dashboard of the payment processor, or by a bank transfer.',
    withdrawn: 'Withdrawn',
  },

  contact: {
    before: 'You received a message from the contact form. Reply to this email to answer it.',
    name: 'Name',
    subject: 'Subject',
    received: 'Received',
  },
}

const de: typeof en = {
  product: 'Produkt',
  paid: 'Bezahlt',
  buyer: 'Kunde',
  deletedAccount: 'ein gelöschtes Konto',
  order: 'Bestellung',
  payment: 'Zahlung',
  openOrder: 'Bestellung öffnen',
  email: 'E-Mail-Adresse',
  reason: 'Grund',
  noReason: 'keiner angegeben',

  sale: {
    subject: (name, amount) => `Verkauft: ${name} für ${amount}`,
    first: 'Sie haben ein Produkt verkauft.',
    later: 'Sie haben ein Upgrade oder eine Verlängerung verkauft.',
  },

  keptPayment: {
    subject: (name, amount) => `Beendet, aber bezahlt: ${name} für ${amount}`,
    before:
      'Diese Bestellung ist beendet, weil eine frühere Zahlung für ihre Lizenz zurückgegeben oder die Lizenz widerrufen wurde. Ihre eigene Zahlung wurde nicht zurückgegeben. Prüfen Sie, ob Sie sie erstatten.',
  },

  paidTwice: {
    subject: (name) => `Doppelt bezahlt: ${name}`,
    before:
      'Ein Kunde hat ein Produkt bezahlt, das ihm schon gehört. Prüfen Sie, ob Sie eine der Zahlungen erstatten.',
    thisPayment: 'Diese Zahlung',
    earlier: 'Frühere',
  },

  withdrawal: {
    subject: (name) => `Widerruf: ${name}`,
    before: 'Ein Kunde hat einen Kauf widerrufen.',
    open: 'Die Zahlung wird erstattet.',
    waived:
      'Es wird nichts erstattet: Der Kunde hat zugestimmt, dass das Recht mit der Lieferung endet. Bitte antworten Sie.',
    late: 'Es wird nichts erstattet: Die Widerrufsfrist ist vorbei. Bitte antworten Sie.',
    ended: 'Es wird nichts erstattet: Der Kauf war schon beendet. Bitte antworten Sie.',
    free: 'Es wird nichts erstattet: Das Produkt war kostenlos. Bitte antworten Sie.',
  },

  unknownOrder: {
    subject: 'Widerruf einer unbekannten Bestellung',
    before:
      'Jemand hat eine Bestellung widerrufen, die unbekannt ist oder zu einer anderen Adresse gehört. Vielleicht ist es ein Tippfehler.',
    confirmed: 'Bestätigt',
  },

  failedRefund: {
    subject: (name) => `Erstattung fehlgeschlagen: ${name}`,
    before:
      'Ein Kunde hat diesen Kauf widerrufen, aber die Erstattung ist fehlgeschlagen. Erstatten Sie die Zahlung beim Zahlungsdienst oder durch eine Überweisung.',
    withdrawn: 'Widerrufen',
  },

  contact: {
    before:
      'Sie haben eine Nachricht über das Kontaktformular erhalten. Antworten Sie auf diese E-Mail.',
    name: 'Name',
    subject: 'Betreff',
    received: 'Eingegangen',
  },
}

const MESSAGES: Messages<typeof en> = { en, de }

export const getOperatorMessages = (locale: Locale): typeof en => MESSAGES[locale]
