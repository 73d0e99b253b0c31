/** The German sentences of the problems that pages show, by their codes. */
export const PROBLEMS_DE: Record<string, string> = {
  rate_limited: 'Zu viele Anfragen. Versuchen Sie es später noch einmal.',
  credentials_wrong: 'E-Mail-Adresse oder Passwort ist falsch.',
  two_factor_code_required: 'Geben Sie Ihren Zwei-Faktor-Code ein.',
  two_factor_code_wrong: 'Der Zwei-Faktor-Code ist falsch.',
  password_reset_required: 'Legen Sie ein neues Passwort fest, um sich anzumelden.',
  emailed_code_wrong: 'Der Code ist falsch oder abgelaufen.',
  inactive_account: 'Dieses Konto ist gesperrt.',
  email_domain_refused: 'Diese E-Mail-Adresse wird nicht angenommen.',
  unknown_promotion_code: 'Diesen Aktionscode gibt es nicht.',
  promotion_code_used: 'Dieser Aktionscode wurde schon verwendet.',
  promotion_code_unusable: 'Dieser Aktionscode gilt nicht für diesen Kauf.',
  waiver_outdated:
    'Der Text über die sofortige Lieferung hat sich geändert. Laden Sie die Seite neu.',
  not_for_sale: 'Dieses Produkt kann noch nicht gekauft werden.',
  tier_invalid: 'Dieses Produkt gibt es nicht.',
  already_owned: 'Sie besitzen dieses Produkt schon.',
  not_signed_in: 'Melden Sie sich an.',
  field_missing: 'Füllen Sie alle Felder aus.',
  checkout_busy: 'Die Kasse ist gerade beschäftigt. Versuchen Sie es gleich noch einmal.',
  processor_unreachable:
    'Der Zahlungsanbieter ist nicht erreichbar. Versuchen Sie es später noch einmal.',
  processor_failed: 'Der Zahlungsanbieter hat die Anfrage abgelehnt.',
  billing_not_configured: 'Zahlungen sind noch nicht eingerichtet.',
  optout_link_invalid: 'Dieser Link ist ungültig. Öffnen Sie den Link der neuesten E-Mail.',
  withdrawal_not_found: 'Diesen Widerruf gibt es nicht.',
  no_active_purchase: 'Kein aktiver Kauf gefunden.',
  payment_disputed:
    'Der Zahlung wurde widersprochen. Downloads warten auf die Entscheidung der Bank.',
  download_limit_reached: 'Alle Downloads dieser Version sind verbraucht.',
  download_cooldown: 'Warten Sie einen Moment, bevor Sie noch einmal herunterladen.',
  resume_limit_reached: 'Dieser Download wurde zu oft fortgesetzt. Beginnen Sie ihn neu.',
  product_files_missing: 'Die Dateien des Produkts wurden nicht gefunden.',
  zip_failed: 'Der Download konnte nicht vorbereitet werden. Versuchen Sie es später noch einmal.',
  no_invoice: 'Zu diesem Kauf gibt es keine Rechnung.',
  contact_notification_failed:
    'Ihre Nachricht ist gespeichert, aber unser Team konnte noch nicht benachrichtigt werden. Wir versuchen es weiter.',
}
