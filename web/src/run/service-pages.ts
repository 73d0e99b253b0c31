// Pages of operators that share a file: the name of each file costs every page of the app some bytes.
export { ActivityPage } from '../activity/activity-page.tsx'
export { CataloguePage } from '../catalogue/catalogue-page.tsx'
export { InvitationsPage } from '../customers/invitations-page.tsx'
export { HealthPage } from '../health/health-page.tsx'
