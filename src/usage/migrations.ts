import type { Migration } from '#platform/db/migrate.ts'

// Most rows of a database are usage_records. To avoid padding, which PostgreSQL inserts for alignment,
// their columns are ordered from the widest fixed-width type to the narrowest, then the texts.
export const usageMigrations: Migration[] = [
  {
    id: 'usage/001-ledger',
    sql: `
      create table usage_records (
        prompt_tokens {bigint} not null,
        completion_tokens {bigint} not null,
        cached_tokens {bigint} not null,
        reasoning_tokens {bigint} not null,
        cost_nanos {bigint} not null,
        created_at {timestamp} not null,
        latency_ms integer not null,
        first_token_ms integer,
        attempts smallint not null,
        status smallint not null,
        is_estimated {boolean} not null,
        user_id {id} not null,
        id {id} not null,
        key_id text not null,
        tier text not null,
        route text not null,
        vendor text not null,
        model text not null,
        tried text not null,
        outcome text not null,
        error_code text,
        error_detail text,
        request_id text,
        vendor_request_id text,
        end_user text not null,
        labels text not null,
        parameters_json {json},
        primary key (user_id, id)
      );
      create index usage_records_by_time on usage_records (created_at);
      create table usage_days (
        user_id {id} not null,
        day text not null,
        key_id text not null,
        model text not null,
        vendor text not null,
        tier text not null,
        outcome text not null,
        end_user text not null,
        requests {bigint} not null,
        prompt_tokens {bigint} not null,
        completion_tokens {bigint} not null,
        cached_tokens {bigint} not null,
        cost_nanos {bigint} not null,
        primary key (user_id, day, key_id, model, vendor, tier, outcome, end_user)
      );
      create index usage_days_by_day on usage_days (day);
      create table usage_totals (
        day text not null,
        slot {bigint} not null,
        model text not null,
        vendor text not null,
        tier text not null,
        outcome text not null,
        requests {bigint} not null,
        prompt_tokens {bigint} not null,
        completion_tokens {bigint} not null,
        cached_tokens {bigint} not null,
        cost_nanos {bigint} not null,
        primary key (day, slot, model, vendor, tier, outcome)
      );
      create table usage_archive (
        month text not null,
        model text not null,
        requests {bigint} not null,
        prompt_tokens {bigint} not null,
        completion_tokens {bigint} not null,
        cost_nanos {bigint} not null,
        primary key (month, model)
      );
    `,
  },
  {
    id: 'usage/002-budgets',
    sql: `
      create table usage_budgets (
        user_id {id} not null,
        scope text not null,
        period text not null,
        used_tokens {bigint} not null,
        used_nanos {bigint} not null,
        reserved_tokens {bigint} not null,
        reserved_nanos {bigint} not null,
        alerted_nanos {bigint} not null,
        alerted_limit_nanos {bigint} not null,
        primary key (user_id, scope, period)
      );
      create index usage_budgets_by_period on usage_budgets (period);
      create table usage_alerts (
        user_id {id} not null,
        period text not null,
        renews_at {timestamp} not null,
        percent {bigint} not null,
        limit_nanos {bigint} not null,
        used_nanos {bigint} not null,
        created_at {timestamp} not null,
        sent_at {timestamp},
        primary key (user_id, period, percent, limit_nanos)
      );
      create index usage_alerts_by_period on usage_alerts (period);
      create index usage_alerts_unsent on usage_alerts (created_at) where sent_at is null;
      create table usage_reservations (
        user_id {id} not null,
        id {id} not null,
        node_id {id} not null,
        budgets_json {json} not null,
        tokens {bigint} not null,
        nanos {bigint} not null,
        primary key (user_id, id)
      );
      create index usage_reservations_of_node on usage_reservations (node_id);
      create table usage_nodes (
        node_id {id} primary key,
        seen_at {timestamp} not null
      );
    `,
  },
  {
    id: 'usage/003-open-calls',
    sql: `
      create table usage_open_calls (
        user_id {id} not null,
        id {id} not null,
        node_id {id} not null,
        plan_json {json} not null,
        record_json {json} not null,
        primary key (user_id, id)
      );
    `,
  },
]
