import { IconCheck, IconCreditCardOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Entitlement } from '../api/types.ts'
import { findPlan, planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { computePrice } from '../pricing/price.ts'
import { useUser } from '../session/user.ts'
import { formatMoney } from './format.ts'
import { LinkButton } from './links.tsx'
import { Notice } from './notice.tsx'
import classes from './require-entitlement.module.css'

type RequireEntitlementProps = {
  entitlement: Entitlement
  what: string
  page?: boolean
  children: ReactNode
}

/** Describes each feature to people whose plan does not include it. */
const BENEFITS: Partial<Record<Entitlement, string[]>> = {
  api_keys: [
    t('Call every model from your programs, with any OpenAI or Anthropic client'),
    t('Limit each key: spending, rate, models and networks'),
    t('See every call with its tokens, cost and duration'),
  ],
  library: [
    t('Upload PDF, Word, text and more, and search them'),
    t('Ask about your files: answers show the sentence they stand on'),
  ],
  ai: [
    t('Send requests to every model, and see the raw events, latency, tokens and cost'),
    t('Copy each request as code for curl, OpenAI, Anthropic and LangChain'),
  ],
  home: [t('Ask the models of several vendors in one conversation, with your files')],
}

/**
 * Shows its children if the plan includes the feature; otherwise what it does and costs. `page`:
 * the children are a whole page.
 */
export function RequireEntitlement({
  entitlement,
  what,
  page = false,
  children,
}: RequireEntitlementProps) {
  const { subscription_status, subscription_tier, entitlements } = useUser()
  const plans = usePlans()
  if (entitlements.includes(entitlement)) return <>{children}</>

  if (subscription_status === 'past_due' && subscription_tier === 'free') {
    return (
      <Notice
        icon={IconCreditCardOff}
        order={page ? 1 : 2}
        title={t('Your plan is suspended')}
        action={<LinkButton to="/billing">{t('Go to billing')}</LinkButton>}
      >
        {t('Pay or resume your plan to continue. Your data is kept.')}
      </Notice>
    )
  }
  const plan = findPlan(plans, entitlement)
  const Heading = page ? 'h1' : 'h2'
  const price = plan && computePrice(plan, 'monthly')
  return (
    <section className={classes.offer} data-page={page || undefined}>
      <Heading>
        {plan ? t('{0} with {1}', what, plan.name) : t('{0} is not part of your plan', what)}
      </Heading>
      <ul>
        {BENEFITS[entitlement]?.map((benefit) => (
          <li key={benefit}>
            <IconCheck size={18} aria-hidden />
            {benefit}
          </li>
        ))}
      </ul>
      <div className={classes.action}>
        <LinkButton to="/pricing">{t('See plans')}</LinkButton>
        <span>
          {rich(
            '{0}You are on the {1} plan.',
            price?.amount != null &&
              t('{0} {1}, cancel anytime. ', formatMoney(price.amount, price.currency), price.per),
            planName(plans, subscription_tier),
          )}
        </span>
      </div>
    </section>
  )
}
