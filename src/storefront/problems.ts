/**
 * Problems of the shop: checkouts, downloads, messages. Another buyer's purchase looks exactly like
 * a missing one.
 */
import { Problem } from '#platform/problem.ts'

export const storefrontProblem = Problem.define({
  not_signed_in: [
    401,
    'Not authenticated',
    'Open a session of the storefront: `POST /api/session`.',
  ],
  field_missing: [
    400,
    '{field}: Field required',
    'The storefront’s word for a missing or empty field.',
  ],
  cross_site: [
    403,
    'Requests from other sites are not accepted',
    'Send it from the storefront’s own pages.',
  ],
  tier_invalid: [400, 'Invalid tier specified', 'Ask for a tier that `/pricing` shows.'],
  already_owned: [
    409,
    'You already own this product',
    'Its license and downloads are at `/dashboard`.',
  ],
  free_product_taken: [
    409,
    'Another account of your mailbox has had this free product',
    'Sign in with that account: a mailbox gets each free product once.',
  ],
  not_an_upgrade: [
    409,
    'This purchase cannot be upgraded to that product',
    '`upgrades` of `GET /api/purchases` lists what each purchase can be upgraded to.',
  ],
  not_renewable: [
    409,
    'The updates of this purchase cannot be renewed',
    '`renewal` of `GET /api/purchases` has the price where they can.',
  ],
  promotion_code_unusable: [
    409,
    'This promotion code is not valid for this product',
    'Continue without it.',
  ],
  contact_message_not_found: [
    404,
    'No message has this id',
    '`GET /api/admin/contact-messages` lists the messages.',
  ],
  amount_too_small: [
    409,
    'With this code, {product} would cost {price}, but Stripe charges at least {minimum}',
    'Use a smaller discount, one of the whole price, or another product.',
  ],
  discount_code_taken: [
    409,
    'Another promotion code has this name',
    'Delete the other one first, or choose another name.',
  ],
  discount_not_found: [
    404,
    'No discount has this id',
    '`GET /api/admin/discounts` lists the discounts.',
  ],
  waiver_outdated: [
    409,
    'The text about immediate delivery has changed',
    'Show the present text, and send its version.',
  ],
  optout_link_invalid: [
    400,
    'This link is not valid',
    'Open the whole link of the latest email about a release.',
  ],
  claim_link_invalid: [
    400,
    'This link was used or has expired',
    '`POST /api/purchases/recover` mails new links of purchases that wait.',
  ],
  claim_needs_sign_in: [
    401,
    'Sign in to add this purchase to your account',
    'Open a session of the account with the address of the mail, then repeat.',
  ],
  claim_of_another_account: [
    403,
    'This purchase is for another account',
    'Sign in with the address that the link was mailed to.',
  ],
  withdrawal_not_found: [404, 'No withdrawal has this id', 'Begin one: `POST /api/withdrawals`.'],
  not_for_sale: [409, 'Not available yet', 'The product has no release so far.'],
  checkout_busy: [503, 'The checkout is busy, try again in a moment'],

  purchase_not_found: [
    404,
    'No purchase has this id',
    '`GET /api/admin/purchases` lists the purchases.',
  ],
  no_invoice: [404, 'This purchase has no invoice', 'Free purchases have none.'],
  purchase_upgraded: [
    409,
    'A later purchase replaces this one; refund that one first',
    'Its id is in `chain` of `GET /api/admin/purchases/{id}`.',
  ],
  purchase_in_bundle: [
    409,
    'The order of its bundle {id} decides about this one',
    'Send the request for that order.',
  ],
  bundle_without_files: [
    409,
    'A bundle has no files and no license key; its products have theirs',
    '`GET /api/purchases` lists them with the same `bundle_id`.',
  ],
  purchase_not_restorable: [
    409,
    'Only a purchase that a superuser revoked can be restored',
    'A refunded purchase comes back when its refund fails.',
  ],
  purchase_ended: [
    409,
    'The purchase has ended',
    'Its status says why: `GET /api/admin/purchases/{id}`.',
  ],
  not_an_extension: [
    409,
    'Updates already continue until then',
    'Choose a time after `entitled_until`.',
  ],
  no_active_purchase: [403, 'No active purchase found', 'Buy it, or sign in as who bought it.'],
  purchase_id_invalid: [400, 'purchase_id must be a UUID'],
  payment_disputed: [403, 'Payment is disputed', 'Downloads wait until the bank has decided.'],
  download_limit_reached: [
    403,
    'Download limit reached. Your license has expired. Please purchase a new license to continue downloading.',
    'Lead to `/api/checkout?tier=…`. The body has `"expired": true` beside.',
  ],
  download_cooldown: [
    429,
    'Please wait {seconds} seconds before downloading again.',
    'Wait `Retry-After` seconds.',
  ],
  resume_limit_reached: [429, 'This download was resumed too often. Please start it again.'],
  range_not_satisfiable: [416, 'Range not satisfiable', 'Ask for one range within the archive.'],
  product_files_missing: [
    404,
    'Product files not found',
    'Whoever runs the shop puts the release back.',
  ],
  zip_failed: [
    500,
    'The download could not be prepared. Please try again later.',
    'The service’s log has the reason; nothing was counted.',
  ],

  products_fixed: [
    409,
    'The products come from the file of CATALOGUE',
    'Edit that file and restart the service, or remove its `products`.',
  ],
  product_not_found: [404, 'Product not found'],
  product_exists: [409, 'There is another product with the tier {tier}'],
  product_slug_taken: [409, 'The product {tier} has this slug'],
  product_in_use: [
    409,
    'The product {tier} refers to this one',
    'Change `bundle` or `upgrade_from` of that product first.',
  ],
  product_changed: [
    409,
    'The product has changed since you opened it',
    'Read it again, and repeat your change.',
  ],

  release_refused: [422, 'The ZIP was refused: {reason}'],
  release_exists: [409, 'There is another release {version} of this product'],
  release_incomplete: [
    409,
    'The upload of this release is not complete',
    'Wait until it ends. If it broke off, delete the draft and upload it again.',
  ],
  products_dir_needed: [
    409,
    'PRODUCTS_DIR is not set: with DATABASE_URL several nodes may serve, and each needs the files of releases',
    'Set it to `s3://bucket/prefix`, or to a folder that all nodes share.',
  ],
  release_not_draft: [409, 'Only drafts can be deleted', 'Withdraw the release instead.'],
  release_not_publishable: [409, 'The release is published already'],
  release_not_published: [409, 'The release is not published'],
  release_not_stored: [
    503,
    'The files of the release could not be stored',
    'PRODUCTS_DIR has to be writable and have space; the service’s log has the reason.',
  ],

  license_not_found: [
    404,
    'License key not found',
    'Let the user check what they typed. A rotated key is unknown, too.',
  ],
  license_revoked: [
    403,
    'This license is no longer valid',
    'The purchase was refunded, revoked or replaced. `POST /api/license/verify` shows why.',
  ],
  activations_full: [
    409,
    'This license is active on {limit} machines, which is its limit',
    'The body lists the `activations`. Release one of them.',
  ],
  activation_not_found: [404, 'Activation not found'],
  not_activated: [403, 'This machine is not activated', 'Call `POST /api/license/activate` first.'],
  release_limit_reached: [
    409,
    'This license has released {max} machines this month, which is its limit',
    'The body has `available_at`, when machines can be released again.',
  ],

  download_token_not_found: [404, 'Download token not found'],
  token_limit_reached: [
    409,
    'This license has {max} download tokens, which is its limit',
    'Delete one that you no longer use.',
  ],
  download_credential_invalid: [
    401,
    'A download token or a license key is required',
    'Send it as `Authorization: Bearer …`. Tokens expire.',
  ],
  release_not_found: [
    404,
    'No release of this product has this version',
    'Use a version that the license covers. `/download/…` takes `latest`, too.',
  ],
  release_downloads_used: [
    403,
    'You have used all downloads of version {version}',
    'Download the newest release: leave `version` out.',
  ],
  daily_limit_reached: [
    429,
    'The downloads of this token or key are used up for today',
    'Wait `Retry-After` seconds, until the next UTC day. Cache the archive by its ETag.',
  ],

  contact_notification_failed: [
    500,
    'Your message was saved, but our team could not be notified yet. We will keep trying.',
    'Do not send it again.',
  ],
})
