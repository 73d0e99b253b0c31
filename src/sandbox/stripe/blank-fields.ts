/** Fields that Stripe's objects have and that are null in the sandbox until a caller sets them. */
const NULL_FIELDS = {
  'billing_portal.session': `after_expiration customer_account on_behalf_of`,
  charge: `application application_fee application_fee_amount calculated_statement_descriptor
    failure_balance_transaction on_behalf_of outcome receipt_email receipt_number receipt_url review shipping source source_transfer statement_descriptor
    statement_descriptor_suffix transfer_data transfer_group`,
  'checkout.session': `adaptive_pricing after_expiration allowed_payment_method_types billing_address_collection
    client_secret collected_information consent consent_collection currency_conversion
    customer_account integration_identifier invoice managed_payments origin_context
    payment_intent payment_link payment_method_configuration_details permissions recovered_from
    saved_payment_method_options setup_intent shipping_address_collection shipping_cost
    submit_type subscription wallet_options`,
  coupon: `amount_off currency duration_in_months max_redemptions name percent_off redeem_by`,
  customer: `address currency customer_account default_source description discount phone shipping
    test_clock`,
  dispute: `intended_submission_method`,
  discount: `checkout_session customer_account invoice invoice_item subscription subscription_item`,
  invoice: `account_tax_ids application automatically_finalizes_at custom_fields customer_account
    customer_address customer_phone customer_shipping default_payment_method default_source description
    due_date footer from_invoice hosted_invoice_url invoice_pdf last_finalization_error
    latest_revision next_payment_attempt on_behalf_of receipt_number rendering shipping_cost
    shipping_details statement_descriptor test_clock webhooks_delivered_at`,
  payment_intent: `allowed_payment_method_types application application_fee_amount automatic_payment_methods
    canceled_at cancellation_reason client_secret customer_account excluded_payment_method_types
    last_payment_error latest_charge managed_payments next_action on_behalf_of payment_method
    payment_method_configuration_details payment_record processing receipt_email review setup_future_usage
    shipping source statement_descriptor statement_descriptor_suffix transfer_data
    transfer_group`,
  plan: `meter nickname tiers_mode transform_usage trial_period_days`,
  price: `custom_unit_amount lookup_key nickname tiers_mode transform_quantity`,
  product: `default_price description package_dimensions shippable statement_descriptor tax_code
    tax_details unit_label url`,
  promotion_code: `customer customer_account expires_at max_redemptions`,
  refund: `customer_account receipt_number source_transfer_reversal transfer_reversal`,
  subscription: `application application_fee_percent billing_cycle_anchor_config billing_thresholds cancel_at
    canceled_at customer_account days_until_due default_source description ended_at
    latest_invoice next_pending_invoice_item_invoice on_behalf_of pause_collection
    payment_settings pending_invoice_item_interval pending_setup_intent pending_update schedule test_clock
    transfer_data trial_settings`,
} as const

type Words<S extends string> = S extends `${infer A} ${infer B}`
  ? Words<A> | Words<B>
  : S extends `${infer A}\n${infer B}`
    ? Words<A> | Words<B>
    : Exclude<S, ''>
type Kind = keyof typeof NULL_FIELDS
type Blank<K extends Kind> = { object: K; livemode: false } & {
  [Name in Words<(typeof NULL_FIELDS)[K]>]: null
}

/** Returns the constant start of an object: its kind, `livemode` and its null fields. */
export function blank<K extends Kind>(kind: K): Blank<K> {
  const nulls = NULL_FIELDS[kind].split(/\s+/).map((name) => [name, null])
  return { object: kind, livemode: false, ...Object.fromEntries(nulls) }
}
