import { Loader } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { Call } from '../api/types.ts'
import { describeFailure } from '../calls/failure-sentence.ts'
import { formatCount, formatDuration, formatExactDollars } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { t } from '../language/text.ts'
import classes from './first-call.module.css'

/** Leaves most of the general rate limit to the rest of the app. */
const EVERY_MS = 3_000

function firstCallQuery(keyId: string) {
  return queryOptions({
    queryKey: ['calls', 'first', keyId],
    queryFn: async ({ signal }): Promise<Call | null> => {
      const { calls } = await api.get('/api/usage/calls', {
        query: { key: keyId, limit: 1 },
        signal,
      })
      return calls[0] ?? null
    },
    refetchInterval: ({ state }) => (state.data ? false : EVERY_MS),
    staleTime: 0,
  })
}

/** Waits for the first call with a key, and shows what it took and cost. */
export function FirstCall({ keyId }: { keyId: string }) {
  const { data: call } = useQuery(firstCallQuery(keyId))
  if (!call) return <WaitingForCall />
  return (
    <div role="status" className={classes.box} data-outcome={call.outcome}>
      <Received call={call} />
    </div>
  )
}

export function WaitingForCall() {
  return (
    <div role="status" className={classes.box}>
      <Loader size={18} aria-hidden />
      <div>
        <strong>{t('Waiting for the first call…')}</strong>
        <p>{t('Run the example above. Its call appears here.')}</p>
      </div>
    </div>
  )
}

function Received({ call }: { call: Call }) {
  const isOk = call.outcome === 'ok'
  const Glyph = isOk ? IconCircleCheck : IconAlertTriangle
  return (
    <>
      <Glyph size={20} aria-hidden />
      <div>
        <strong>{isOk ? t('First call received') : t('First call received, but it failed')}</strong>
        <p>
          {t(
            '{0} · {1} · {2} tokens · {3}',
            call.model,
            formatDuration(call.latency_ms),
            formatCount(call.prompt_tokens + call.completion_tokens),
            formatExactDollars(call.cost_usd),
          )}
        </p>
        {call.error_code && (
          <p>
            {call.error_detail ?? describeFailure(call.error_code)}{' '}
            <TextLink to="/errors" hash={call.error_code} target="_blank">
              {t('About this error')}
            </TextLink>
          </p>
        )}
      </div>
    </>
  )
}
