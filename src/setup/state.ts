/** Describes each part for the setup page, as it is after the next start. Contains no secrets. */
import { type Static, Type } from 'typebox'
import { FREE, INTERVALS, priceSetting } from '#catalogue/catalogue.ts'
import type { Config, VendorConfig } from '#config/config.ts'
import { isSavable } from '#config/settings-file.ts'
import { formatSender } from '#mail/mail.ts'
import { isLoopbackHost } from '#platform/http/loopback.ts'
import { Instant, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Settings } from './saved-settings.ts'

const FixedBy = Nullable(
  Type.String({
    description: 'The setting of the environment that decides; null: this page does.',
  }),
)

const IsSaved = Type.Boolean({ description: 'This page saved it, and can remove it.' })

export const SetupState = Type.Object(
  {
    is_stored: Type.Boolean({
      description:
        'False: this service stores no settings, and replies contain lines for its environment.',
    }),
    has_sandbox: Type.Boolean({ description: 'The sandbox stands in for parts without a key.' }),
    is_public: Type.Boolean({ description: 'The addresses are not those of this machine.' }),
    storefront_url: Type.String(),
    started_at: Instant,
    pending: Type.Array(Type.String(), {
      description: 'Names of saved settings that apply after a restart.',
    }),
    restart_failure: Nullable(
      Type.String({ description: 'Why the last restart returned to the former settings.' }),
    ),
    payments: Type.Object(
      {
        state: OneOf('live', 'test', 'sandbox', 'off'),
        has_webhook: Type.Boolean(),
        is_saved: IsSaved,
        fixed_by: FixedBy,
      },
      { title: 'SetupPayments' },
    ),
    models: Type.Array(
      Type.Object(
        {
          vendor: Type.String(),
          model: Type.String({ description: 'The default model, which answers the test call.' }),
          state: OneOf('on', 'sandbox', 'off'),
          is_saved: IsSaved,
          fixed_by: FixedBy,
        },
        { title: 'SetupModel' },
      ),
      { description: 'The vendors that can get a key here, in the order that answers calls.' },
    ),
    mail: Type.Object(
      {
        state: OneOf('on', 'sandbox', 'off'),
        host: Nullable(Type.String()),
        sender: Type.String({ description: 'Name and address in emails' }),
        is_saved: IsSaved,
        fixed_by: FixedBy,
      },
      { title: 'SetupMail' },
    ),
    plans: Type.Object(
      {
        fixed_by: FixedBy,
        plans: Type.Array(
          Type.Object(
            {
              tier: Type.String(),
              name: Type.String(),
              features: Type.Array(Type.String()),
              prices: Type.Object(
                { month: Type.Boolean(), year: Type.Boolean() },
                { title: 'SetupPlanPrices', description: 'The intervals for sale.' },
              ),
            },
            { title: 'SetupPlan' },
          ),
        ),
      },
      { title: 'SetupPlans' },
    ),
  },
  { title: 'SetupState' },
)

export function describeSetup(
  settings: Settings,
  brand: Config['brand'],
  startedAt: string,
): Static<typeof SetupState> {
  const next = settings.preview()
  const { mail, urls } = next
  return {
    is_stored: settings.isStored,
    has_sandbox: next.sandbox.on,
    is_public: isPublic(next),
    storefront_url: urls.storefront,
    started_at: startedAt,
    pending: settings.pending,
    restart_failure: settings.restartFailure,
    payments: {
      state: describePayments(next),
      has_webhook: next.processor.webhookSecret !== null,
      is_saved: settings.isSaved('STRIPE_SECRET_KEY'),
      fixed_by: settings.findOverride('STRIPE_SECRET_KEY'),
    },
    models: listKeyable(next).map(({ vendor, keySetting }) => ({
      vendor: vendor.name,
      model: vendor.defaultModel,
      state: vendor.sandboxed ? 'sandbox' : vendor.apiKey === null ? 'off' : 'on',
      is_saved: settings.isSaved(keySetting),
      fixed_by: settings.findOverride(keySetting),
    })),
    mail: {
      state: mail.sandboxed ? 'sandbox' : mail.smtpUrl === null ? 'off' : 'on',
      host: mail.smtpUrl === null ? null : new URL(mail.smtpUrl).host,
      sender: formatSender({ brand, mail }),
      is_saved: settings.isSaved('SMTP_URL'),
      fixed_by: settings.findOverride('SMTP_URL'),
    },
    plans: {
      fixed_by: settings.findOverride('PRICE_ANY_MONTHLY'),
      plans: next.catalogue.plans
        .filter(({ tier }) => tier !== FREE)
        .map(({ tier, name, features, prices }) => ({
          tier,
          name,
          features: [...features],
          prices: { month: prices.month !== undefined, year: prices.year !== undefined },
        })),
    },
  }
}

function describePayments({ processor }: Config): 'live' | 'test' | 'sandbox' | 'off' {
  if (processor.sandboxed) return 'sandbox'
  if (processor.secretKey === null) return 'off'
  return /^[a-z]+_live_/.test(processor.secretKey) ? 'live' : 'test'
}

/** The vendors whose key this page can save, in slot order. */
export function listKeyable({ ai }: Config): { vendor: VendorConfig; keySetting: string }[] {
  const order = [...new Set([...ai.slots.map(({ vendor }) => vendor), ...Object.keys(ai.vendors)])]
  return order.flatMap((name) => {
    const vendor = ai.vendors[name]
    const keySetting = vendor?.keySetting ?? null
    return vendor === undefined || keySetting === null || !isSavable(keySetting)
      ? []
      : [{ vendor, keySetting }]
  })
}

/** Both servers have addresses that others reach. */
const isPublic = ({ urls }: Config) =>
  [urls.base, urls.storefront].every((url) => !isLoopbackHost(new URL(url).host))

/** The settings of a plan's prices: `PRICE_PRO_MONTHLY`. */
export const listPriceSettings = (tier: string) =>
  INTERVALS.map((interval) => ({ interval, setting: priceSetting(tier, interval) }))
