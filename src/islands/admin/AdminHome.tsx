import { useStore } from '@nanostores/react'
import { $user } from '../../stores/signed-in-user.ts'
import { pageHref } from '../kit/page-href.ts'
import { useWaitPhase } from '../kit/time.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { CompanyList } from './CompanyList.tsx'
import { InstallationAttention } from './InstallationAttention.tsx'

// the site's script sends other administrators to the page of their company
export const AdminHome = withTranslation(function AdminHome() {
  const { locale, t } = useTranslation()
  const user = useStore($user, { ssr: 'initial' })
  const isOperator = user?.permissions.includes('operator') === true
  const waiting = useWaitPhase(!isOperator)
  if (isOperator) {
    return (
      <div className="flex flex-col gap-6">
        <InstallationAttention />
        <CompanyList ownCompanyId={user.company.id} />
      </div>
    )
  }
  return (
    <div className="sheet grid gap-4" data-state="loading">
      <p role="status">{t('admin.opening')}</p>
      {waiting === 'slow' && (
        <p className="flex flex-wrap items-center gap-4">
          {t('admin.slow')}
          <a className="link" href={pageHref(locale, 'admin', {})} data-astro-reload>
            {t('common.retry')}
          </a>
        </p>
      )}
    </div>
  )
})
