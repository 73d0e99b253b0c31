import type { Locale, Messages } from '#platform/locale.ts'

/** Texts of the setup's emails. */
const en = {
  test: {
    subject: (brand: string) => `Test email from ${brand}`,
    before: 'Your mail server works. Emails to your customers will look like this one.',
    from: 'From',
    button: 'Continue the setup',
  },
  changed: {
    subject: 'Settings of your service were changed',
    before: (brand: string) =>
      `A superuser changed settings of ${brand} on its setup page. They apply after the next restart.`,
    who: 'Who',
    what: 'What',
    when: 'When',
    after: 'If you do not recognise this change, end all sessions of that account at once.',
  },
}

const de: typeof en = {
  test: {
    subject: (brand) => `Test-E-Mail von ${brand}`,
    before: 'Ihr Mailserver funktioniert. E-Mails an Ihre Kunden sehen so aus wie diese.',
    from: 'Absender',
    button: 'Einrichtung fortsetzen',
  },
  changed: {
    subject: 'Einstellungen Ihres Dienstes wurden geändert',
    before: (brand) =>
      `Ein Administrator hat auf der Einrichtungsseite Einstellungen von ${brand} geändert. Sie gelten ab dem nächsten Neustart.`,
    who: 'Wer',
    what: 'Was',
    when: 'Wann',
    after: 'Wenn Sie diese Änderung nicht kennen, beenden Sie sofort alle Sitzungen dieses Kontos.',
  },
}

const MESSAGES: Messages<typeof en> = { en, de }

export const getSetupMessages = (locale: Locale): typeof en => MESSAGES[locale]
