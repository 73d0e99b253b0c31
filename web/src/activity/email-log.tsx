import { Badge, Group, NativeSelect, Skeleton, Table, Text } from '@mantine/core'
import { IconMail } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import type { LoggedEmail } from '../api/types.ts'
import { formatTime, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import money from '../money/money.module.css'
import { MoreRows } from '../shop/more-rows.tsx'
import classes from '../shop/table.module.css'
import { CustomerFilter } from './customer-filter.tsx'
import { EMAIL_STATES } from './email-states.ts'

const route = getRouteApi('/app/run/run/activity')

type State = LoggedEmail['state']
type Filter = { user?: string | undefined; state?: State | undefined }

const PAGE = 50

/** Every email, newest first. The address holds the filters. */
export function EmailLog() {
  const { user, state } = route.useSearch()
  const navigate = route.useNavigate()
  const show = (filter: Filter) =>
    void navigate({
      search: (search) => ({ ...search, ...filter }),
      replace: true,
      resetScroll: false,
    })
  const emails = useInfiniteQuery({
    queryKey: ['admin', 'emails', user, state],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/admin/emails', {
        query: { user_id: user, state, limit: PAGE, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (previous) => previous,
    staleTime: 0,
  })
  return (
    <section aria-labelledby="all-emails" className={money.part}>
      <div className={money.head}>
        <h2 id="all-emails">{t('All emails')}</h2>
      </div>
      <Group grow preventGrowOverflow={false} mb="md">
        <NativeSelect
          label={t('State')}
          value={state ?? ''}
          onChange={({ currentTarget: { value } }) =>
            show({ state: value === '' ? undefined : (value as State) })
          }
          data={[
            { value: '', label: t('All states') },
            ...Object.entries(EMAIL_STATES).map(([value, { label }]) => ({ value, label })),
          ]}
        />
        <CustomerFilter value={user} onChange={(id) => show({ user: id })} />
      </Group>
      <Loaded query={emails} skeleton={<Skeleton h={240} />}>
        {({ pages }) => {
          const shown = pages.flatMap((page) => page.emails)
          return shown.length === 0 ? (
            <Notice icon={IconMail} title={t('No emails found')} order={3}>
              {t('Every email to a customer or to you appears here, without its text.')}
            </Notice>
          ) : (
            <>
              <EmailTable emails={shown} />
              <MoreRows loaded={plural(shown.length, 'email')} query={emails} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function EmailTable({ emails }: { emails: readonly LoggedEmail[] }) {
  return (
    <ScrollX label={t('Emails')}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {/* The words of a mail server would otherwise take the whole width. */}
            <Table.Th w="45%">{t('Email')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('When')}</Table.Th>
            <Table.Th>{t('State')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {emails.map((email) => (
            <Table.Tr key={email.id}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {email.subject}
                <Text c="dimmed" size="sm">
                  <Address email={email} />
                </Text>
                <Text c="dimmed" size="sm" hiddenFrom="sm">
                  {formatTime(email.created_at)}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm" style={{ whiteSpace: 'nowrap' }}>
                {formatTime(email.created_at)}
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Badge color={EMAIL_STATES[email.state].color}>
                  {EMAIL_STATES[email.state].label}
                </Badge>
                {email.error !== null && (
                  <Text size="sm" mt={4}>
                    {email.error}
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function Address({ email: { user_id, address } }: { email: LoggedEmail }) {
  if (user_id === null) return address
  return (
    <Link to="/customers/$id" params={{ id: user_id }} className={classes.open}>
      {address}
    </Link>
  )
}
