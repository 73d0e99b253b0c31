import { NativeSelect, Skeleton, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api } from '../api/client.ts'
import type { ChangePreview, Customer, Plan, UpdateUserRequest } from '../api/types.ts'
import { ChangeCosts, readStart } from '../billing/change-preview.tsx'
import { planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { formatDay, formatMoney } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { t, translate } from '../language/text.ts'
import { FormDialog } from '../shop/form-dialog.tsx'
import { refreshCustomers } from './customers-query.ts'

type PlanDialogProps = { customer: Customer; onClose: () => void }

/** Changes the subscription at its price, or sets a plan without payment. */
export function PlanDialog({ customer, onClose }: PlanDialogProps) {
  const { subscription } = customer
  const canCharge = subscription !== null && subscription.ended_at === null
  const [isPaid, setIsPaid] = useState(canCharge)
  const choice = canCharge && (
    <NativeSelect
      label={t('Payment')}
      mb="sm"
      value={isPaid ? 'paid' : 'free'}
      onChange={({ currentTarget }) => setIsPaid(currentTarget.value === 'paid')}
      data={[
        { value: 'paid', label: t('Change the subscription') },
        { value: 'free', label: t('Set a plan without payment') },
      ]}
    />
  )
  return isPaid ? (
    <SubscriptionForm customer={customer} onClose={onClose}>
      {choice}
    </SubscriptionForm>
  ) : (
    <OverrideForm customer={customer} onClose={onClose}>
      {choice}
    </OverrideForm>
  )
}

type FormProps = PlanDialogProps & { children: ReactNode }

/** Shows what the customer pays for a price before it is charged. */
function SubscriptionForm({ customer, onClose, children }: FormProps) {
  const { id, tier_override } = customer
  const plans = usePlans()
  const prices = listPrices(plans, customer)
  const [chosen, setChosen] = useState('')
  const path = { id }
  const preview = useQuery({
    queryKey: ['customers', 'change', id, chosen],
    queryFn: () => api.post('/api/admin/users/{id}/plan/preview', { price_id: chosen }, { path }),
    enabled: chosen !== '',
    // The prorated amount shrinks every second.
    gcTime: 0,
    staleTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  })
  const due = preview.data?.due_now ?? 0
  return (
    <FormDialog
      title={t('Change plan')}
      action={
        preview.data && due > 0
          ? t('Charge {0}', formatMoney(due, preview.data.currency))
          : t('Change plan')
      }
      done={t('Plan changed')}
      isReady={preview.data !== undefined}
      onClose={onClose}
      onSubmit={async () => {
        const body = { price_id: chosen, proration_at: preview.data?.proration_at ?? 0 }
        const { is_to_confirm } = await api.post('/api/admin/users/{id}/plan', body, { path })
        await refreshCustomers()
        return is_to_confirm
          ? t(
              'The bank asks the customer to confirm. They got an email with a link; the plan changes once they have paid.',
            )
          : undefined
      }}
    >
      {children}
      <NativeSelect
        label={t('New plan')}
        value={chosen}
        onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        data={[{ value: '', label: t('Choose a plan') }, ...prices]}
      />
      {chosen !== '' && (
        <Loaded query={preview} skeleton={<Skeleton h={120} mt="sm" />}>
          {(data) => <Costs preview={data} plans={plans} />}
        </Loaded>
      )}
      {tier_override !== null && (
        <Text size="sm" mt="sm">
          {t('{0} stays in effect, because a superuser set it.', planName(plans, tier_override))}
        </Text>
      )}
    </FormDialog>
  )
}

function Costs({ preview, plans }: { preview: ChangePreview; plans: Plan[] }) {
  const start = readStart(preview)
  const name = planName(plans, preview.tier)
  return (
    <>
      <Text mt="sm">
        {start
          ? t('{0} starts on {1}, when the paid period ends.', name, formatDay(start))
          : t('{0} starts immediately. The card of the customer is charged.', name)}
      </Text>
      <ChangeCosts preview={preview} />
    </>
  )
}

/** Returns the prices of all plans except the subscription's own. */
function listPrices(plans: Plan[], { subscription }: Customer) {
  const offers = plans.flatMap((plan) => {
    const { name, tier, price, amount_yearly, currency = 'usd' } = plan
    const label = (amount: number | undefined, interval: string) =>
      amount === undefined
        ? t('{0}, each {1}', name, translate(interval))
        : t('{0}, {1} a {2}', name, formatMoney(amount, currency), translate(interval))
    return [
      { value: plan.price_monthly, label: label(price, 'month'), tier, interval: 'month' },
      { value: plan.price_yearly, label: label(amount_yearly, 'year'), tier, interval: 'year' },
    ]
  })
  return offers.flatMap(({ value, label, tier, interval }) => {
    const isOwn = tier === subscription?.tier && interval === subscription?.interval
    return value === undefined || isOwn ? [] : [{ value, label }]
  })
}

/** The value for no override. Tiers contain no spaces, so it matches none. */
const AS_PAID = t('as paid')

/** Overrides the plan of the subscription, until a day or until the override is removed. */
function OverrideForm({ customer, onClose, children }: FormProps) {
  const { id, tier_override, tier_override_until } = customer
  const plans = usePlans()
  const [plan, setPlan] = useState(tier_override ?? AS_PAID)
  const [lastDay, setLastDay] = useState(tier_override_until?.slice(0, 10) ?? '')
  // Keep an override in the list after its plan has left the catalogue.
  const tiers = new Set([
    ...plans.map(({ tier }) => tier),
    ...(tier_override === null ? [] : [tier_override]),
  ])
  return (
    <FormDialog
      title={t('Change plan')}
      action={t('Save')}
      done={t('Plan changed')}
      onClose={onClose}
      onSubmit={async () => {
        const tier = plan === AS_PAID ? null : plan
        const until = tier === null || lastDay === '' ? null : `${lastDay}T23:59:59Z`
        const body = { subscription_tier: tier, subscription_tier_until: until }
        await api.patch('/api/admin/users/{id}', body as UpdateUserRequest, { path: { id } })
        await refreshCustomers()
      }}
    >
      {children}
      <NativeSelect
        label={t('Plan')}
        description={t(
          'Applies until you return to the subscription’s. The customer pays as before.',
        )}
        value={plan}
        onChange={({ currentTarget }) => setPlan(currentTarget.value)}
        data={[
          { value: AS_PAID, label: t('From the subscription') },
          ...[...tiers].map((tier) => ({ value: tier, label: planName(plans, tier) })),
        ]}
      />
      {plan !== AS_PAID && (
        <TextInput
          type="date"
          mt="sm"
          label={t('Last day')}
          description={t(
            'Without a day, the plan stays until you change it. Days end at midnight UTC.',
          )}
          min={new Date().toISOString().slice(0, 10)}
          value={lastDay}
          onChange={({ currentTarget }) => setLastDay(currentTarget.value)}
        />
      )}
    </FormDialog>
  )
}
