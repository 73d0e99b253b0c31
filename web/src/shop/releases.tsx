import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Loaded } from '../components/loaded.tsx'
import { t } from '../language/text.ts'
import { ReleaseRow } from './release-row.tsx'
import { ReleaseUpload } from './release-upload.tsx'
import classes from './releases.module.css'
import { releasesQuery } from './releases-query.ts'

/** The versions of a product: drop a ZIP, look at the draft, publish it. */
export function Releases({ tier }: { tier: string }) {
  const releases = useQuery(releasesQuery(tier))
  return (
    <section aria-labelledby="releases" className={classes.section}>
      <h2 id="releases">{t('Releases')}</h2>
      <ReleaseUpload tier={tier} />
      <Loaded query={releases} skeleton={<Skeleton h={120} />}>
        {(data) =>
          data.releases.length === 0 ? (
            <p className={classes.none}>
              {t('No releases yet. The product is for sale once one is published.')}
            </p>
          ) : (
            <ul className={classes.list}>
              {data.releases.map((release) => (
                <ReleaseRow key={release.version} tier={tier} release={release} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}
