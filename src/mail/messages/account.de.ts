import type { AccountMessages } from './account.en.ts'

export const de: AccountMessages = {
  hello: 'Guten Tag,',
  helloTo: (name) => `Guten Tag ${name},`,
  notShown: '(hier nicht angezeigt)',
  unknown: 'unbekannt',
  when: 'Zeitpunkt',
  notMe: 'Das war ich nicht: Passwort zurücksetzen',

  registration: ({ service }) => ({
    subject: `Willkommen bei ${service}: Bestätigen Sie Ihre E-Mail-Adresse`,
    before: 'Bestätigen Sie Ihre E-Mail-Adresse, um Ihr Konto fertig anzulegen.',
    button: 'E-Mail-Adresse bestätigen',
    after: [
      'Der Link gilt 24 Stunden und funktioniert einmal.',
      'Wenn Sie kein Konto angelegt haben, ignorieren Sie diese E-Mail.',
    ],
  }),

  invitation: ({ service }) => ({
    subject: `Einladung zu ${service}`,
    before: `Sie sind eingeladen, mit dieser E-Mail-Adresse ein Konto bei ${service} anzulegen.`,
    button: 'Konto anlegen',
    after: ['Der Link gilt 7 Tage und funktioniert einmal.'],
  }),

  verification: ({ service }) => ({
    subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
    before: `Bestätigen Sie diese E-Mail-Adresse, um sie für Ihr Konto bei ${service} zu verwenden.`,
    button: 'E-Mail-Adresse bestätigen',
    after: ['Der Link gilt 24 Stunden und funktioniert einmal. Er ersetzt alle früheren Links.'],
  }),

  passwordReset: ({ service }) => ({
    subject: 'Setzen Sie Ihr Passwort zurück',
    before: `Für Ihr Konto bei ${service} wurde ein neues Passwort angefordert.`,
    button: 'Neues Passwort festlegen',
    after: [
      'Der Link gilt eine Stunde und funktioniert einmal.',
      'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail. Ihr Passwort bleibt unverändert.',
    ],
  }),

  signInCode: ({ service }) => ({
    subject: 'Ihr Anmeldecode',
    before: `Geben Sie diesen Code ein, um sich bei ${service} anzumelden.`,
    code: 'Anmeldecode',
    after: [
      'Er funktioniert einmal, zehn Minuten lang, in dem Browser, in dem Sie ihn angefordert haben.',
      'Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail. Geben Sie den Code niemals weiter.',
    ],
  }),

  passwordChanged: ({ service }) => ({
    subject: 'Ihr Passwort wurde geändert',
    before: `Das Passwort Ihres Kontos bei ${service} wurde geändert, und alle anderen Sitzungen wurden abgemeldet.`,
    methodsRemoved:
      'Die Adresse war zuvor nicht bestätigt. Deshalb wurden die anderen Anmeldearten entfernt.',
    keysRevoked:
      'Ihre API-Schlüssel wurden widerrufen. Programme, die sie verwenden, brauchen neue Schlüssel.',
  }),

  emailChanged: ({ service }) => ({
    subject: 'Die E-Mail-Adresse Ihres Kontos wurde geändert',
    before: `Ihr Konto bei ${service} hat jetzt eine neue E-Mail-Adresse. Wenn Sie das selbst geändert haben, müssen Sie nichts tun.`,
    newAddress: 'Neue Adresse',
    button: 'Das war ich nicht: Änderung rückgängig machen',
    after: [
      'Der Link funktioniert 7 Tage lang. Er stellt diese Adresse wieder her, meldet alle Sitzungen ab, entfernt kürzlich Hinzugefügtes (Passkeys, Anbieter, Zwei-Faktor-Authentifizierung, API-Schlüssel) und lässt Sie ein neues Passwort festlegen.',
    ],
  }),

  emailRestored: ({ service }) => ({
    subject: 'Die E-Mail-Adresse Ihres Kontos wurde wiederhergestellt',
    before: `Ihr Konto bei ${service} verwendet wieder diese Adresse. Alle Sitzungen wurden abgemeldet. Kürzlich Hinzugefügtes wurde entfernt, weil es von jemand anderem stammen könnte.`,
    after: [
      'Sie können Ihre Passkeys, Anbieter und API-Schlüssel wieder hinzufügen. Eine weitere E-Mail enthält den Link für ein neues Passwort.',
    ],
  }),

  removed: {
    passkey: 'Passkey entfernt',
    provider: 'Anmeldung entfernt',
    twoFactor: 'Zwei-Faktor-Authentifizierung',
    off: 'aus',
    key: 'API-Schlüssel widerrufen',
    keys: 'API-Schlüssel widerrufen',
    count: (count) => `insgesamt ${count}`,
  },

  accessChanged: ({ keysUrl, securityUrl }) => ({
    takenOver: [
      'Die Adresse wurde von jemandem bestätigt, der nicht angemeldet war. Frühere Anmeldearten könnten deshalb einer fremden Person gehören. Das Passwort, Passkeys und andere Anbieter wurden entfernt, und alle Sitzungen wurden abgemeldet. Sie können jederzeit ein neues Passwort festlegen.',
      `API-Schlüssel, die nach der Bestätigung angelegt wurden, funktionieren weiter, und eine eingeschaltete Zwei-Faktor-Authentifizierung bleibt eingeschaltet. Prüfen Sie beides unter ${keysUrl} und ${securityUrl}.`,
    ],
    name: 'Bezeichnung',
    prefix: 'Beginnt mit',
    address: 'Anmeldung als',
    after: (url) =>
      `Wenn Sie das selbst geändert haben, müssen Sie nichts tun. Andernfalls legen Sie ein neues Passwort fest und prüfen Sie Ihr Konto unter ${url}.`,
  }),

  accessChanges: ({ service }) => ({
    'passkey-added': {
      subject: 'Ihrem Konto wurde ein Passkey hinzugefügt',
      says: `Ein neuer Passkey kann sich jetzt bei Ihrem Konto bei ${service} anmelden.`,
    },
    'passkey-removed': {
      subject: 'Ein Passkey wurde aus Ihrem Konto entfernt',
      says: `Ein Passkey kann sich nicht mehr bei Ihrem Konto bei ${service} anmelden.`,
    },
    'google-linked': {
      subject: 'Ihrem Konto wurde die Anmeldung mit Google hinzugefügt',
      says: `Sie können sich jetzt mit Google bei Ihrem Konto bei ${service} anmelden.`,
    },
    'google-unlinked': {
      subject: 'Die Anmeldung mit Google wurde aus Ihrem Konto entfernt',
      says: `Sie können sich nicht mehr mit Google bei Ihrem Konto bei ${service} anmelden.`,
    },
    'github-linked': {
      subject: 'Ihrem Konto wurde die Anmeldung mit GitHub hinzugefügt',
      says: `Sie können sich jetzt mit GitHub bei Ihrem Konto bei ${service} anmelden.`,
    },
    'github-unlinked': {
      subject: 'Die Anmeldung mit GitHub wurde aus Ihrem Konto entfernt',
      says: `Sie können sich nicht mehr mit GitHub bei Ihrem Konto bei ${service} anmelden.`,
    },
    'two-factor-on': {
      subject: 'Die Zwei-Faktor-Authentifizierung ist eingeschaltet',
      says: `Ihr Konto bei ${service} verlangt nach dem Passwort jetzt einen Code.`,
    },
    'two-factor-off': {
      subject: 'Die Zwei-Faktor-Authentifizierung ist ausgeschaltet',
      says: `Ihr Konto bei ${service} verlangt nach dem Passwort keinen Code mehr.`,
    },
    'key-made': {
      subject: 'Ein API-Schlüssel wurde angelegt',
      says: `Programme können jetzt einen neuen API-Schlüssel Ihres Kontos bei ${service} verwenden.`,
    },
    'key-rotated': {
      subject: 'Ein API-Schlüssel wurde erneuert',
      says: `Ein API-Schlüssel Ihres Kontos bei ${service} hat ein neues Geheimnis.`,
    },
    'superuser-made': {
      subject: 'Sie sind jetzt Superuser',
      says: `Ihr Konto bei ${service} kann jetzt alles in diesem Dienst sehen und ändern, auch andere Konten.`,
    },
  }),

  newDevice: ({ service }) => ({
    subject: 'Neue Anmeldung bei Ihrem Konto',
    before: `Bei Ihrem Konto bei ${service} hat sich jemand von einem neuen Gerät angemeldet.`,
    program: 'Programm',
    address: 'Netzwerkadresse',
    after: ['Wenn Sie das waren, müssen Sie nichts tun.'],
  }),

  allowance: ({ service, isUsedUp }) => ({
    subject: isUsedUp
      ? 'Ihr Guthaben ist aufgebraucht'
      : 'Ihr Guthaben ist zum größten Teil aufgebraucht',
    before: isUsedUp
      ? `Sie haben das Guthaben Ihres Tarifs bei ${service} für diesen Zeitraum aufgebraucht. Kostenpflichtige Aufrufe werden abgelehnt, bis es sich erneuert.`
      : `Sie haben 80 % des Guthabens Ihres Tarifs bei ${service} für diesen Zeitraum verbraucht. Ist es aufgebraucht, werden kostenpflichtige Aufrufe abgelehnt.`,
    used: 'Verbraucht',
    ofLimit: (used, limit) => `${used} von ${limit}`,
    renews: 'Erneuert sich',
    button: 'Verbrauch ansehen',
    after: [
      'Ein größerer Tarif hat ein größeres Guthaben. Sie erhalten diese E-Mail einmal je Zeitraum.',
    ],
  }),

  wrongCodes: ({ service, wrong, isClosed }) => ({
    subject: 'Nach Ihrem Passwort wurden falsche Codes eingegeben',
    before: [
      `Jemand hat das richtige Passwort Ihres Kontos bei ${service} eingegeben und danach innerhalb eines Tages ${wrong} falsche Zwei-Faktor-Codes.`,
      isClosed
        ? 'Das Passwort funktioniert auf neuen Geräten nicht mehr, bis Sie ein neues festlegen. Geräte, die Sie schon verwendet haben, Passkeys und andere Anmeldearten funktionieren weiter.'
        : 'Wenn Sie das nicht waren, kennt jemand Ihr Passwort, und nur die Codes schützen Ihr Konto. Legen Sie ein neues Passwort fest.',
    ],
    button: 'Neues Passwort festlegen',
    after: ['Wenn Sie das waren, prüfen Sie die Uhr des Geräts, das Ihre Codes erzeugt.'],
  }),

  accountDeleted: ({ service }) => ({
    subject: 'Ihr Konto wurde gelöscht',
    before: `Ihr Konto bei ${service} und seine Inhalte wurden gelöscht. Dies ist die letzte E-Mail dazu.`,
  }),
}
