import { useEffect, useState } from 'react'
import { loadCode } from '../kit/load-code.ts'
import { useTranslation } from '../kit/use-translation.ts'

export function DemoAccount() {
  const { t } = useTranslation()
  const [account, setAccount] = useState<{ email: string; password: string }>()
  useEffect(() => {
    loadCode(() => import('../../stores/accounts/accounts.ts'))
      .then(({ findDemoAccount }) => findDemoAccount())
      .then(setAccount, () => {}) // signing in works without it
  }, [])
  if (!account) return null
  return (
    <dl className="flex flex-col rounded-box border border-base-300 p-4 text-sm">
      <dt className="font-medium">{t('entrance.demo')}</dt>
      <dd className="font-mono wrap-anywhere">{account.email}</dd>
      <dt className="mt-2">{t('account.password')}</dt>
      <dd className="font-mono wrap-anywhere">{account.password}</dd>
    </dl>
  )
}
