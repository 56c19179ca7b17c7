import { useEffect, useState } from 'react'
import type { T } from '../../i18n/index.ts'
import { findDemoAccount } from '../../stores/accounts.ts'

/** How to look around in the demonstration, where its account works. Words: `account`. */
export function DemoAccount({ t }: { t: T }) {
  const [account, setAccount] = useState<{ email: string; password: string }>()
  useEffect(() => void findDemoAccount().then(setAccount), [])
  if (!account) return null
  return (
    <dl className="alert alert-outline grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-sm">
      <dt className="col-span-2 font-medium">{t('account.demo')}</dt>
      <dt>{t('account.email')}</dt>
      <dd className="font-mono wrap-anywhere">{account.email}</dd>
      <dt>{t('account.password')}</dt>
      <dd className="font-mono wrap-anywhere">{account.password}</dd>
    </dl>
  )
}
