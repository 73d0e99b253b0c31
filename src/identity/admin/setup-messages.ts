import type { Locale, Messages } from '#platform/locale.ts'

/** Texts of the page that makes the first superuser. */
const en = {
  expired: 'This link was used or has expired',
  expiredText: 'Restart the service to get a new one.',
  invalidEmail: 'Enter a valid email address.',
  title: 'Create the administrator',
  lead: 'The administrator manages users, money and switches. To make an existing account the administrator, enter its email address and password.',
  email: 'Email',
  password: 'Password',
  button: 'Create administrator',
  done: 'Done',
  doneText: (email: string) => `${email} is the administrator now. The link cannot be used again.`,
  signIn: 'Sign in',
}

const de: typeof en = {
  expired: 'Dieser Link wurde schon verwendet oder ist abgelaufen',
  expiredText: 'Starten Sie den Dienst neu, um einen neuen zu erhalten.',
  invalidEmail: 'Geben Sie eine gültige E-Mail-Adresse ein.',
  title: 'Administrator anlegen',
  lead: 'Der Administrator verwaltet Benutzer, Geld und Sperren. Soll ein vorhandenes Konto Administrator werden, geben Sie dessen E-Mail-Adresse und Passwort ein.',
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  button: 'Administrator anlegen',
  done: 'Fertig',
  doneText: (email) => `${email} ist jetzt Administrator. Der Link gilt nicht noch einmal.`,
  signIn: 'Anmelden',
}

export type SetupMessages = typeof en & { locale: Locale }

const MESSAGES: Messages<SetupMessages> = {
  en: { locale: 'en', ...en },
  de: { locale: 'de', ...de },
}

export const getSetupMessages = (locale: Locale): SetupMessages => MESSAGES[locale]
