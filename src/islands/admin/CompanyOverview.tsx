import { useStore } from '@nanostores/react'
import { $user } from '../../stores/users.ts'
import { usePageName } from '../kit/use-page-name.ts'
import { useWords, withWords } from '../kit/use-words.ts'

/** The first page of a company's administration. */
export const CompanyOverview = withWords(function CompanyOverview() {
  const { t } = useWords()
  const user = useStore($user, { ssr: 'initial' })
  usePageName(user?.company.name)
  return (
    <section className="sheet" data-state={user ? 'ready' : 'loading'}>
      <p role="status">{user ? user.company.name : t('common.loading')}</p>
    </section>
  )
})
