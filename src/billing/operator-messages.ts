import type { Locale, Messages } from '#platform/locale.ts'

/** Texts of billing's emails to the operator. */
const en = {
  customer: 'Customer',
  payment: 'Payment',
  subscription: 'Subscription',
  unknown: 'unknown',

  dispute: {
    open: (amount: string) => `A payment is disputed: ${amount}`,
    openSubscription:
      'The bank holds the money until it decides. The plan is suspended, and nothing is charged in the meantime. Respond to the dispute at the processor, or accept it there.',
    openPurchase:
      'The bank holds the money until it decides. Downloads are blocked in the meantime. Respond to the dispute at the processor, or accept it there.',
    won: (amount: string) => `A dispute was won: ${amount}`,
    wonSubscription: 'The money was returned to you, and the plan is active again.',
    wonPurchase: 'The money was returned to you, and the purchase is active again.',
    lost: (amount: string) => `A dispute was lost: ${amount}`,
    lostSubscription:
      'The bank returned the money to the customer. The plan has ended, the subscription is cancelled, and the card is not charged again.',
    lostPurchase: 'The bank returned the money to the customer. The license is revoked.',
    dispute: 'Dispute',
    reason: 'Reason',
    answerBy: 'Answer by',
    button: 'Open the payment',
  },

  double: {
    title: (refunded: string) => `A double payment was refunded: ${refunded}`,
    before:
      'A customer paid for the same plan twice. The older payment was refunded, and its subscription was cancelled.',
    cancelled: 'Cancelled',
    running: 'Running',
  },

  several: {
    title: 'A customer pays for several subscriptions',
    before:
      'The newest one did not come from a checkout, so none was cancelled. Cancel the surplus ones at the processor.',
    subscriptions: 'Subscriptions',
  },

  unknownPrice: {
    title: 'A subscription has a price that belongs to no plan',
    before:
      'Its subscribers keep the plan they had before, or get none. If the price is yours, add it to the settings of its plan.',
    price: 'Price',
  },
}

const de: typeof en = {
  customer: 'Kunde',
  payment: 'Zahlung',
  subscription: 'Abonnement',
  unknown: 'unbekannt',

  dispute: {
    open: (amount) => `Eine Zahlung ist strittig: ${amount}`,
    openSubscription:
      'Die Bank behält das Geld, bis sie entscheidet. Der Tarif ist so lange ausgesetzt, und es wird nichts abgebucht. Antworten Sie beim Zahlungsdienst, oder nehmen Sie die Rückbuchung dort an.',
    openPurchase:
      'Die Bank behält das Geld, bis sie entscheidet. Downloads sind so lange gesperrt. Antworten Sie beim Zahlungsdienst, oder nehmen Sie die Rückbuchung dort an.',
    won: (amount) => `Eine Rückbuchung wurde gewonnen: ${amount}`,
    wonSubscription: 'Das Geld ist wieder bei Ihnen, und der Tarif ist wieder aktiv.',
    wonPurchase: 'Das Geld ist wieder bei Ihnen, und der Kauf ist wieder aktiv.',
    lost: (amount) => `Eine Rückbuchung wurde verloren: ${amount}`,
    lostSubscription:
      'Die Bank hat das Geld an den Kunden zurückgegeben. Der Tarif ist beendet, das Abonnement gekündigt, und die Karte wird nicht mehr belastet.',
    lostPurchase: 'Die Bank hat das Geld an den Kunden zurückgegeben. Die Lizenz gilt nicht mehr.',
    dispute: 'Rückbuchung',
    reason: 'Grund',
    answerBy: 'Antwort bis',
    button: 'Zahlung öffnen',
  },

  double: {
    title: (refunded) => `Eine doppelte Zahlung wurde erstattet: ${refunded}`,
    before:
      'Ein Kunde hat denselben Tarif zweimal bezahlt. Die ältere Zahlung wurde erstattet und ihr Abonnement gekündigt.',
    cancelled: 'Gekündigt',
    running: 'Läuft weiter',
  },

  several: {
    title: 'Ein Kunde bezahlt mehrere Abonnements',
    before:
      'Das neueste stammt nicht aus einem Kauf auf der Preisseite, deshalb wurde keines gekündigt. Kündigen Sie die überzähligen beim Zahlungsdienst.',
    subscriptions: 'Abonnements',
  },

  unknownPrice: {
    title: 'Ein Abonnement hat einen Preis, der zu keinem Tarif gehört',
    before:
      'Die Abonnenten behalten ihren bisherigen Tarif oder bekommen keinen. Wenn der Preis von Ihnen ist, tragen Sie ihn in die Einstellungen seines Tarifs ein.',
    price: 'Preis',
  },
}

const MESSAGES: Messages<typeof en> = { en, de }

export const getOperatorMessages = (locale: Locale): typeof en => MESSAGES[locale]
