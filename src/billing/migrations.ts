import type { Migration } from '#platform/db/migrate.ts'

export const billingMigrations: Migration[] = [
  {
    id: 'billing/001-accounts',
    sql: `
      create table billing_accounts (
        user_id {id} primary key,
        customer_id text,
        customer_generation {bigint} not null,
        version {bigint} not null,
        synced_at {timestamp},
        event_at {timestamp},
        ended_subscription_id text,
        checkout_at {timestamp},
        subscription_id text,
        subscription_created_at {timestamp},
        price_id text,
        period_end_at {timestamp},
        is_cancel_at_period_end {boolean} not null
      );
      create index billing_accounts_synced on billing_accounts (synced_at);
      create table billing_cursors (
        name text primary key,
        reached_at {timestamp} not null
      );
    `,
  },
  {
    id: 'billing/002-customer-email',
    sql: 'alter table billing_accounts add column customer_email text;',
  },
  {
    id: 'billing/003-customers-and-grace',
    sql: `
      create table billing_customers (
        customer_id text primary key,
        user_id {id} not null,
        state text not null,
        checkout_at {timestamp}
      );
      create index billing_customers_by_user on billing_customers (user_id);
      insert into billing_customers (customer_id, user_id, state, checkout_at)
        select customer_id, user_id, 'present', coalesce(subscription_created_at, checkout_at)
        from billing_accounts where customer_id is not null;
      alter table billing_accounts add column processor_status text;
      alter table billing_accounts add column granted_tier text;
      alter table billing_accounts add column past_due_at {timestamp};
      alter table billing_accounts add column is_grace_over {boolean} not null default false;
    `,
  },
  {
    id: 'billing/004-money',
    sql: `
      create table payments (
        id text primary key,
        user_id {id},
        customer_id text,
        kind text,
        tier text,
        amount_cents {bigint} not null,
        tax_cents {bigint} not null,
        currency text not null,
        fee_cents {bigint},
        fee_currency text,
        paid_at {timestamp},
        refunded_cents {bigint} not null,
        is_refunded {boolean} not null,
        dispute text,
        version {bigint} not null,
        seen_at {timestamp} not null
      );
      create index payments_by_user on payments (user_id);
      create index payments_by_time on payments (paid_at);
      create table refunds (
        id text primary key,
        payment_id text not null,
        amount_cents {bigint} not null,
        currency text not null,
        fee_cents {bigint},
        fee_currency text,
        status text not null,
        reason text,
        created_at {timestamp} not null
      );
      create index refunds_by_payment on refunds (payment_id);
      create index refunds_by_time on refunds (created_at);
      create table disputes (
        id text primary key,
        payment_id text not null,
        amount_cents {bigint} not null,
        currency text not null,
        fee_cents {bigint},
        fee_currency text,
        status text not null,
        reason text,
        created_at {timestamp} not null
      );
      create index disputes_by_payment on disputes (payment_id);
      create index disputes_by_time on disputes (created_at);
      create table invoices (
        id text primary key,
        user_id {id},
        customer_id text,
        subscription_id text,
        payment_id text,
        price_id text,
        tier text,
        number text,
        status text not null,
        reason text,
        total_cents {bigint} not null,
        paid_cents {bigint} not null,
        tax_cents {bigint} not null,
        currency text not null,
        created_at {timestamp} not null,
        paid_at {timestamp},
        description text,
        lines_json {json}
      );
      create index invoices_by_user on invoices (user_id);
      create index invoices_by_payment on invoices (payment_id);
      create index invoices_by_number on invoices (number);
    `,
  },
  {
    id: 'billing/005-subscription-life',
    sql: `
      alter table billing_accounts add column trial_end_at {timestamp};
      alter table billing_accounts add column price_cents {bigint};
      alter table billing_accounts add column currency text;
      alter table billing_accounts add column interval text;
      alter table billing_accounts add column next_price_id text;
      alter table billing_accounts add column pauses_at {timestamp};
      alter table billing_accounts add column ends_at {timestamp};
      alter table billing_accounts add column ended_at {timestamp};
      alter table billing_accounts add column card_last4 text;
      alter table billing_accounts add column card_expires_at {timestamp};
      create index billing_accounts_by_card on billing_accounts (card_last4);
      alter table billing_accounts add column offers_at {timestamp};
      alter table billing_accounts add column invoices_read_at {timestamp};
      alter table billing_accounts add column payment_status text;
      alter table billing_accounts add column payment_error text;
      alter table billing_accounts add column payment_due_cents {bigint};
      alter table billing_accounts add column pending_price_id text;
      alter table billing_accounts add column pending_payment_status text;
      alter table billing_accounts add column is_pending_newer {boolean} not null default false;
      create table trial_marks (
        mark text primary key,
        subscription_id text not null,
        begun_at {timestamp} not null
      );
      create index trial_marks_by_subscription on trial_marks (subscription_id);
      create index trial_marks_by_time on trial_marks (begun_at);
      create table billing_notices (
        user_id {id} not null,
        about text not null,
        sent_at {timestamp} not null,
        primary key (user_id, about)
      );
      create table deals (
        price_id text primary key,
        user_id {id} not null,
        tier text not null,
        interval text not null,
        amount_cents {bigint} not null,
        currency text not null,
        created_at {timestamp} not null
      );
      create index deals_by_user on deals (user_id);
      create table cancellations (
        subscription_id text primary key,
        user_id {id},
        tier text,
        feedback text,
        comment text,
        canceled_at {timestamp} not null,
        ended_at {timestamp}
      );
      create index cancellations_by_user on cancellations (user_id);
      create index cancellations_by_time on cancellations (canceled_at);
    `,
  },
  {
    id: 'billing/006-free-marks',
    sql: `
      create table free_marks (
        mark text primary key,
        holder text not null,
        used_at {timestamp} not null
      );
      create index free_marks_by_holder on free_marks (holder);
      create index free_marks_by_time on free_marks (used_at);
    `,
  },
  {
    id: 'billing/007-metrics',
    sql: `
      create table subscription_changes (
        owner {id} not null,
        day text not null,
        currency text not null,
        tier text,
        before_state text not null,
        before_cents {bigint} not null,
        after_state text not null,
        after_cents {bigint} not null,
        primary key (owner, day, currency)
      );
      create index subscription_changes_by_day on subscription_changes (day);
      create table checkout_days (
        day text not null,
        kind text not null,
        opened {bigint} not null,
        primary key (day, kind)
      );
      create index invoices_by_time on invoices (created_at);
    `,
  },
]
