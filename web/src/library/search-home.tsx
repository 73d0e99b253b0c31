import { Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { findPlan } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { TextLink } from '../components/links.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { RecentFiles } from '../overview/recent-files.tsx'
import { LibrarySearch } from './library-search.tsx'

const route = getRouteApi('/app/home')

/** Home of plans that search files without conversations. */
export function SearchHome() {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const answering = findPlan(usePlans(), 'home')
  return (
    <Page
      title={t('Search your files')}
      lead={
        <>
          {t('Your plan finds passages in your files. It does not include written answers.')}{' '}
          {answering && <TextLink to="/pricing">{t('See plans')}</TextLink>}
        </>
      }
    >
      <Stack>
        <div>
          <LibrarySearch
            q={q}
            onSearch={(q) => void navigate({ search: { q }, resetScroll: false })}
          />
        </div>
        {q === undefined && <RecentFiles />}
      </Stack>
    </Page>
  )
}
