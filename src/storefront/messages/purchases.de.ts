import { html } from '#platform/http/html.ts'
import type { PurchaseMessages } from './purchases.en.ts'

export const de: PurchaseMessages = {
  purchases: {
    title: 'Ihre Käufe',
    noneYet: 'Noch keine Käufe',
    noneYetText: 'Hier erscheinen Ihre Käufe mit Lizenzschlüsseln und Downloads.',
    bought: 'gekauft am',

    payment: {
      paid: html`<strong>Vielen Dank, Ihre Zahlung ist eingegangen.</strong> Ihr Lizenzschlüssel steht unten. Wir haben ihn auch per E-Mail gesendet.`,
      settling: html`<strong>Ihre Zahlung wird bearbeitet.</strong> Das kann einige Tage dauern, und vielleicht bittet Ihre Bank Sie um eine Bestätigung. Wir senden Ihnen den Lizenzschlüssel, sobald die Zahlung eingeht.`,
      pending: html`<strong>Ihre Zahlung wird bestätigt.</strong> Diese Seite aktualisiert sich von selbst, und wir schreiben Ihnen, sobald die Zahlung bestätigt ist.`,
      unknown: html`<strong>Keine offene Zahlung gefunden.</strong> Wenn Ihre Bank die Zahlung abgelehnt hat, wurde nichts berechnet. Wenn Sie bezahlt haben und unten keine Lizenz sehen, <a href="/contact">schreiben Sie uns</a>.`,
    },

    waiting: (name, day) =>
      html`<strong>${name} wartet auf Sie.</strong> Jemand hat es am ${day} ohne Anmeldung für Ihre E-Mail-Adresse gekauft.`,
    claim: 'Zu meinen Käufen hinzufügen',

    status: {
      completed: 'Aktiv',
      expired: 'Downloads aufgebraucht',
      disputed: 'Zahlung strittig',
      upgraded: 'Ersetzt',
      refunded: 'Erstattet',
      withdrawn: 'Widerrufen',
      revoked: 'Entzogen',
    },
    disputed:
      'Diese Zahlung ist strittig. Sie können wieder herunterladen, sobald Ihre Bank entschieden hat.',
    usedUp: (max) =>
      html`Sie haben alle ${max} Downloads dieser Version verbraucht. Mit der nächsten Version bekommen Sie neue. Ihr Schlüssel bleibt gültig, und einen unterbrochenen Download können Sie 24 Stunden lang fortsetzen. Für weitere Downloads <a href="/pricing">kaufen Sie eine neue Lizenz</a> oder <a href="/contact">schreiben Sie uns</a>.`,
    ended: 'Dieser Kauf ist beendet. Schlüssel und Downloads funktionieren nicht mehr.',
    bundle:
      'Die Produkte dieses Pakets folgen, jedes mit eigenem Lizenzschlüssel und eigenen Downloads.',
    bundleEnded: 'Dieser Kauf ist beendet, mit allen seinen Produkten.',
    upgraded: 'Ein späterer Kauf ersetzt diesen und hat seinen Lizenzschlüssel.',

    licenseKey: 'Lizenzschlüssel',
    showKey: 'Schlüssel zeigen',
    downloads: 'Downloads',
    downloadsOf: (version) => `Downloads von ${version}`,
    downloadsLeft: 'Übrige Downloads',
    left: (left, max) => `noch ${left} von ${max}`,
    invoice: 'Rechnung',
    viewInvoice: 'PDF ansehen',
    updatesUntil: 'Updates bis',
    noEnd: 'unbegrenzt',
    checksum: 'Prüfsumme',
    checksumOf: 'SHA-256 Ihres ZIP:',
    compare:
      'Vergleichen Sie sie mit „sha256sum DATEI“ (Linux), „shasum -a 256 DATEI“ (macOS) oder „certutil -hashfile DATEI SHA256“ (Windows).',

    notYet:
      'Dieses Produkt kann noch nicht heruntergeladen werden. Wir schreiben Ihnen, sobald es bereit ist.',
    download: (version) => `${version} herunterladen`,
    started: 'Ihr Download hat begonnen.',
    next: (seconds) => `Den nächsten können Sie in ${seconds} s starten.`,
    resume: 'Einen unterbrochenen Download können Sie 24 Stunden lang fortsetzen; er zählt einmal.',
    upgrade: (name, price) => `Auf ${name} umsteigen für ${price}`,
    upgradeFree: (name) => `Kostenlos auf ${name} umsteigen`,
    renew: (day, price) => html`Updates bis ${day} für ${price} verlängern`,
    releases: 'Versionen',
    yours: ' (Ihr Download)',
    notCovered: ' (nach Ihrem Update-Zeitraum)',
    withdraw: 'Diesen Kauf widerrufen',
    waived: (day, time, version) =>
      html`Sie haben am ${day} um ${time} UTC zugestimmt, dass Ihr Widerrufsrecht mit dem ersten Download endet (Text ${version}).`,

    open: 'So öffnen Sie das ZIP',
    encrypted: html`Das ZIP ist mit AES-256 verschlüsselt. Das Passwort ist Ihr Lizenzschlüssel, mit den Bindestrichen. <code>unzip</code> und das Archivprogramm von macOS können es nicht öffnen.`,
    windows: html`Öffnen Sie es mit <a href="https://www.7-zip.org" rel="noreferrer">7-Zip</a> oder WinZip: Wählen Sie „Hier entpacken“, und fügen Sie dann den Schlüssel ein.`,
    macos: html`Öffnen Sie es mit <a href="https://www.keka.io" rel="noreferrer">Keka</a>, oder führen Sie im Terminal <code>bsdtar -xf DATEI.zip</code> aus.`,
    linux: html`Führen Sie <code>7z x DATEI.zip</code> oder <code>bsdtar -xf DATEI.zip</code> aus.`,

    history: 'Letzte Downloads',
    when: 'Zeit (UTC)',
    product: 'Produkt',
    version: 'Version',
    address: 'IP-Adresse',
    country: 'Land',
  },

  license: {
    machines: (count, limit) =>
      limit === null ? `Geräte (${count})` : `Geräte (${count} von ${limit})`,
    noMachine: 'Die Lizenz ist auf keinem Gerät aktiv.',
    releasesRenew: (day) => html`Ab ${day} können Sie wieder Geräte freigeben.`,
    releasesLeft: (left) => `Diesen Monat können Sie noch ${left} freigeben.`,
    unnamed: 'Gerät ohne Namen',
    since: 'seit',
    release: 'Freigeben',

    tokens: (count) => `Download-Token (${count})`,
    tokensText:
      'Mit einem Token lädt ein Build-Server das Archiv ohne Ihr Konto und ohne Passwort herunter.',
    neverUsed: 'nie verwendet',
    lastUsed: 'zuletzt verwendet am',
    expires: 'läuft ab am',
    revoke: 'Widerrufen',
    name: 'Bezeichnung',
    expiresIn: 'Läuft ab in',
    lifetimes: { 30: '30 Tagen', 90: '90 Tagen', 365: '1 Jahr', 730: '2 Jahren' },
    create: 'Token anlegen',
    created: (name) =>
      html`<strong>Token „${name}“ angelegt.</strong> Kopieren Sie es jetzt; wir zeigen es nicht noch einmal.`,
    nameMissing: 'Geben Sie dem Token eine Bezeichnung mit höchstens 100 Zeichen.',

    replace: 'Lizenzschlüssel ersetzen',
    replaceText:
      'Der alte Schlüssel funktioniert sofort nicht mehr, auch nicht als Passwort neuer Downloads. Geräte und Token bleiben. Den neuen Schlüssel senden wir Ihnen per E-Mail.',
    replaceButton: 'Schlüssel ersetzen',
  },
}
